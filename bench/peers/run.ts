import { attempt, type Bench } from '../bench.ts';
import { bytes, mebibytes, microseconds, milliseconds, perSecond, times } from '../format.ts';
import { type LoadMaker, measureReads, startLoadMaker } from '../load.ts';
import { bytesOfEach, ownBytes, settledBytes } from '../process-figures.ts';
import { type ChangeFigures, meteredChange, middleOf, StreamReaders } from '../readers.ts';
import {
  fetchChecked,
  type RequestName,
  type Running,
  type StartedProgram,
  startRecipe,
} from '../running.ts';
import { median, percentile } from '../statistics.ts';
import { type Format, type Table, written } from '../table.ts';
import { peerFlags } from './flags.ts';
import { installPeers } from './install.ts';
import type { Peer } from './peer.ts';
import { PEERS } from './peers.ts';

const FLAGS = 1000;
/** As small a map as a service has. */
const FEW_FLAGS = 26;
const MANY_FLAGS = 10_000;
const STREAMS = 10_000;
const STREAMS_OF_LARGE_MAPS = 1_000;
const EFFORT = { rounds: 3, seconds: 2 };
const STARTS = 3;
const CHANGES = 7;
const SINGLE_CHANGES = 200;

/** Longest that one service may take with one set of flags, in milliseconds. */
const PATIENCE_MS = 900_000;

/** What can be measured. */
export const PEER_TABLES = ['rest', 'start', 'streams'] as const;
type PeerTable = (typeof PEER_TABLES)[number];

type RunningPeer = Running & StartedProgram;

/** One cell, and the number in it that is compared with ours. */
interface Cell {
  readonly text: string;
  readonly value?: number;
}

/** The cells of a peer, by heading. */
type Cells = Readonly<Record<string, Cell>>;

/** What a peer shows of a subject; a peer without it is not in the table. */
interface Subject {
  readonly table: PeerTable;
  readonly title: (count: number) => string;
  readonly flags: number;
  readonly measure: (running: RunningPeer, tools: Tools) => Promise<Cells | undefined>;
  /** By heading of the compared column, the heading of its ratio: the peer's to ours, or ours to the peer's. */
  readonly ratios: Readonly<Record<string, 'to ours' | 'ours to it'>>;
}

/** What measuring needs besides the peer. */
interface Tools {
  readonly bench: Bench;
  readonly load: LoadMaker;
  /** Streams that one process may have here. */
  readonly streams: number;
  /** Starts the same peer again, and returns the milliseconds to its first answer. */
  readonly startAgain: () => Promise<number>;
}

const READ_RATIOS = { requests: 'ours to it', 'CPU of a request': 'to ours' } as const;
const STREAM_RATIOS = { 'memory of a stream': 'to ours', 'last reader': 'to ours', p50: 'to ours' } as const;

/** Every table has every peer that can be in it, also where a peer is ahead. */
const SUBJECTS: readonly Subject[] = [
  ...(
    [
      ['one', `One flag of ${FLAGS}`],
      ['ofrepOne', `One flag of ${FLAGS}, evaluated by OFREP`],
      ['all', `All ${FLAGS} flags`],
      ['ofrepAll', `All ${FLAGS} flags, evaluated by OFREP`],
    ] as const
  ).map(([request, title]) => ({
    table: 'rest' as const,
    title: () => title,
    flags: FLAGS,
    measure: (running: RunningPeer, tools: Tools) => measureRequest(running, tools, request),
    ratios: READ_RATIOS,
  })),
  ...[FLAGS, MANY_FLAGS].map((flags) => ({
    table: 'start' as const,
    title: () => `Start and idle memory, ${flags} flags`,
    flags,
    measure: measureStart,
    ratios: { 'start to the first answer': 'to ours', 'own memory': 'to ours' } as const,
  })),
  {
    table: 'streams',
    title: (count) => `${count} streams, ${FEW_FLAGS} flags`,
    flags: FEW_FLAGS,
    measure: (running, tools) => measureStreams(running, tools, tools.streams),
    ratios: STREAM_RATIOS,
  },
  {
    table: 'streams',
    title: () => `${STREAMS_OF_LARGE_MAPS} streams, ${FLAGS} flags`,
    flags: FLAGS,
    measure: (running, tools) => measureStreams(running, tools, STREAMS_OF_LARGE_MAPS),
    ratios: STREAM_RATIOS,
  },
];

/** What to measure, where the programs are, and how to write the tables. */
export interface PeersOptions {
  /** Some of {@link PEER_TABLES}; all when empty. */
  readonly chosen: readonly string[];
  /** By the options that take a path. */
  readonly paths: Readonly<Record<string, string>>;
  /** Whether to fetch what is missing in the folder from package registries. */
  readonly isInstalling: boolean;
  readonly format: Format;
}

/** Halyard beside other services, each by itself, one after another; ours first. */
export async function measurePeers(bench: Bench, options: PeersOptions): Promise<string> {
  const { chosen, paths, isInstalling, format } = options;
  if (isInstalling && paths.folder !== undefined) {
    for (const sentence of await installPeers(paths.folder, bench.say)) bench.leaveOut(sentence);
  }

  await using load = startLoadMaker(bench.machine);
  const streams = Math.min(STREAMS, bench.machine.fileLimit - 700);
  const subjects = SUBJECTS.filter(({ table }) => chosen.length === 0 || chosen.includes(table));
  const lines = new Map(subjects.map((subject) => [subject, [] as Line[]]));

  for (const peer of PEERS) {
    const place = peer.find({ paths, bench });
    if ('missing' in place) {
      bench.leaveOut(`${peer.name}: ${place.missing}`);
      continue;
    }

    const name = `${peer.name} ${await peer.version(place.program)}`;
    for (const [flags, same] of Map.groupBy(subjects, (subject) => subject.flags)) {
      bench.say(`peers: ${name}, ${flags} flags`);
      const input = { bench, program: place.program, flags: peerFlags(flags) };
      const start = () => startRecipe(bench.machine, (at) => peer.recipe({ ...input, ...at }));
      const startAgain = async () => {
        await using again = await start();
        return again.startMs;
      };

      const measureAll = async () => {
        await using running = await start();
        for (const subject of same) {
          const cells = await subject.measure(running, { bench, load, streams, startAgain });
          if (cells !== undefined) lines.get(subject)?.push({ peer, name, cells });
        }
      };
      await attempt(bench, `${name}, ${flags} flags`, measureAll, PATIENCE_MS);
    }
  }

  const tables = [...lines].map(([subject, all]) =>
    written(format, tableOf(all, subject.ratios), subject.title(streams)),
  );
  return tables.join('\n\n');
}

/** A peer's line of a table. */
interface Line {
  readonly peer: Peer;
  readonly name: string;
  readonly cells: Cells;
}

function tableOf(lines: readonly Line[], ratios: Subject['ratios']): Table {
  const [ours] = lines;
  const headings = Object.keys(ours?.cells ?? {});
  return {
    headings: [
      'system',
      ...headings.flatMap((heading) => [heading, ratios[heading] ?? []].flat()),
      'what it does',
    ],
    lines: lines.map(({ peer, name, cells }) => [
      name,
      ...headings.flatMap((heading) => {
        const { text, value = Number.NaN } = cells[heading] ?? { text: '-' };
        const own = ours?.cells[heading]?.value ?? Number.NaN;
        const ratio = ratios[heading];
        return ratio === undefined ? [text] : [text, times(ratio === 'to ours' ? value / own : own / value)];
      }),
      peer.remark,
    ]),
  };
}

async function measureRequest(
  { requests, pids }: RunningPeer,
  { load }: Tools,
  name: RequestName,
): Promise<Cells | undefined> {
  const request = requests?.[name];
  if (request === undefined) return undefined;
  const { size, flags } = await fetchChecked(request);
  const [figures] = (await measureReads(load, new Map([[name, { pids, ...request }]]), EFFORT)).values();
  // A wrong answer may be as fast as it likes.
  await fetchChecked(request);
  if (figures === undefined) return undefined;

  const { rate, cpuMs } = figures;
  return {
    requests: { text: perSecond(rate), value: rate },
    'CPU of a request': { text: microseconds(cpuMs), value: cpuMs },
    'body (flags)': { text: `${bytes(size)} (${flags})` },
  };
}

async function measureStart({ pids, startMs }: RunningPeer, { startAgain }: Tools): Promise<Cells> {
  const resident = await settledBytes(pids);
  const own = ownBytes(...pids);
  const starts = [startMs];
  while (starts.length < STARTS) starts.push(await startAgain());
  const middle = median(starts);
  return {
    'start to the first answer': { text: milliseconds(middle), value: middle },
    'own memory': { text: mebibytes(own), value: own },
    'pages of files': { text: mebibytes(resident - own) },
  };
}

async function measureStreams(
  { pids, stream }: RunningPeer,
  { bench }: Tools,
  count: number,
): Promise<Cells | undefined> {
  if (stream === undefined) return undefined;
  await using readers = new StreamReaders(bench.machine, count);
  await readers.open(stream, 1);
  const single: number[] = [];
  for (let n = 0; n < SINGLE_CHANGES; n++) single.push((await readers.change(stream, n)).lastMs);
  // The first tenth warms up.
  single.splice(0, SINGLE_CHANGES / 10);
  await readers.close();

  const { result: openSeconds, each } = await bytesOfEach(pids, count, () => readers.open(stream, count));
  const changes: ChangeFigures[] = [];
  for (let n = 1; n <= CHANGES + 1; n++) {
    changes.push(await meteredChange(readers, { pids, stream }, SINGLE_CHANGES + n));
  }
  const { firstMs, lastMs, cpuMs } = middleOf(changes.slice(1));
  return {
    'memory of a stream': { text: bytes(each), value: each },
    'opened in': { text: milliseconds(openSeconds * 1000) },
    'a change: first reader': { text: milliseconds(firstMs) },
    'last reader': { text: milliseconds(lastMs), value: lastMs },
    'CPU of it': { text: milliseconds(cpuMs) },
    'one change to one stream: p99': { text: milliseconds(percentile(single, 0.99)) },
    p50: { text: milliseconds(median(single)), value: median(single) },
  };
}
