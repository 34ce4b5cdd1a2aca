import { existsSync } from 'node:fs';
import type { Bench } from '../bench.ts';
import { startLoadMaker } from '../load.ts';
import { formatMarkdownTable, formatTable } from '../table.ts';
import { peerFlags } from './flags.ts';
import { GIVEN_PEERS } from './given.ts';
import { halyard } from './halyard.ts';
import { installPeers, peerFolder } from './install.ts';
import { nchan, nchanModule, nginx } from './nginx.ts';
import type { Peer, PeerTable } from './peer.ts';
import { measurePeersRest } from './rest.ts';
import { measurePeersStreams } from './streams.ts';
import { unleashEdge, unleashServer } from './unleash.ts';

const FLAGS = 1000;
/** Flags of the streams' table, as small a map as a service has. */
const STREAM_FLAGS = 26;
const STREAMS = 10_000;

/** The options that take a path. */
export const PEER_PATHS: readonly string[] = ['folder', ...Object.keys(GIVEN_PEERS)];

/** What to measure, where the programs are, and how to write the tables. */
export interface PeersOptions {
  /** Some of `PEER_TABLES`; both when empty. */
  readonly chosen: readonly string[];
  /** By the names of {@link PEER_PATHS}. */
  readonly paths: Readonly<Record<string, string>>;
  /** Whether to fetch what is missing in the folder from package registries. */
  readonly isInstalling: boolean;
  readonly markdown: 'markdown' | 'text';
}

/** Halyard beside other services: what each does for a request, and with ten thousand streams. */
export async function measurePeers(bench: Bench, options: PeersOptions): Promise<string> {
  const { chosen, markdown } = options;
  const found = await findPeers(bench, options);
  const serving = (table: PeerTable) => found.filter(({ serves }) => serves.includes(table));
  const format = markdown === 'markdown' ? formatMarkdownTable : formatTable;
  const parts: string[] = [];
  const heading = (text: string) => parts.push(markdown === 'markdown' ? `### ${text}` : text.toUpperCase());
  if (chosen.length === 0 || chosen.includes('rest')) {
    await using load = await startLoadMaker(bench.machine);
    const { one, all } = await measurePeersRest(bench, load, serving('rest'), peerFlags(FLAGS));
    heading(`One flag of ${FLAGS}`);
    parts.push(format(one));
    heading(`All ${FLAGS} flags`);
    parts.push(format(all));
  }
  if (chosen.length === 0 || chosen.includes('streams')) {
    const count = Math.min(STREAMS, bench.machine.fileLimit - 700);
    const table = await measurePeersStreams(bench, serving('streams'), peerFlags(STREAM_FLAGS), count);
    heading(`${count} streams, ${STREAM_FLAGS} flags`);
    parts.push(format(table));
  }
  return parts.join('\n\n');
}

/** Halyard first, then what is there; a sentence for each that is not. */
async function findPeers(bench: Bench, { paths, isInstalling }: PeersOptions): Promise<Peer[]> {
  const { machine } = bench;
  const peers: Peer[] = [halyard];
  const { folder } = paths;
  if (folder === undefined) {
    bench.leaveOut('Unleash Edge, the Unleash server and nchan: name the folder they are in with --folder');
  } else {
    if (isInstalling) for (const sentence of await installPeers(folder, bench.say)) bench.leaveOut(sentence);
    const places = peerFolder(folder);
    if (existsSync(places.unleashEdge)) peers.push(...unleashEdge(places.unleashEdge));
    else bench.leaveOut(`Unleash Edge: there is no ${places.unleashEdge} (--install compiles it)`);
    if (existsSync(`${places.unleashServer}/node_modules/unleash-server`)) {
      peers.push(unleashServer(places.unleashServer));
    } else bench.leaveOut(`the Unleash server: it is not in ${places.unleashServer} (--install fetches it)`);
  }
  if (machine.nginx === undefined) bench.leaveOut('nginx: it is not installed');
  else {
    peers.push(nginx(machine.nginx));
    const module = folder === undefined ? undefined : nchanModule(peerFolder(folder).nchan);
    if (module !== undefined) peers.push(nchan(machine.nginx, module));
    else if (folder !== undefined) bench.leaveOut('nchan: it is not in the folder (--install fetches it)');
  }
  for (const [name, peer] of Object.entries(GIVEN_PEERS)) {
    const path = paths[name];
    if (path === undefined) bench.leaveOut(`${name}: name its program with --${name}`);
    else if (!existsSync(path)) bench.leaveOut(`${name}: there is no ${path}`);
    else peers.push(peer(path));
  }
  return peers;
}
