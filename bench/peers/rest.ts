import type { Bench } from '../bench.ts';
import { bytes, mebibytes, microseconds, milliseconds, perSecond, times } from '../format.ts';
import type { LoadMaker } from '../load.ts';
import { cpuTimeMs, residentBytes } from '../process-figures.ts';
import { median } from '../statistics.ts';
import type { Table } from '../table.ts';
import { PATIENCE_MS } from '../within.ts';
import type { PeerFlag } from './flags.ts';
import type { Peer, PeerRequest, RunningPeer } from './peer.ts';

const CONNECTIONS = 32;
const ROUNDS = 3;
const SECONDS = 2;
const HEADINGS = [
  'system',
  'requests',
  'ours to it',
  'p50 / p99 at 32',
  'CPU of a request',
  'its to ours',
  'body (flags)',
  'memory',
  'what it does',
];

/** What a peer makes of one request. */
interface Figures {
  readonly peer: Peer;
  readonly version: string;
  readonly rate: number;
  readonly cpuMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly bodyBytes: number;
  readonly flags: number;
  readonly memoryBytes: number;
}

/** The two tables: one flag, and all flags. */
export interface RestTables {
  readonly one: Table;
  readonly all: Table;
}

/** Measures each peer by itself, one after another; the first of them is ours. */
export async function measurePeersRest(
  bench: Bench,
  load: LoadMaker,
  peers: readonly Peer[],
  flags: readonly PeerFlag[],
): Promise<RestTables> {
  const one: Figures[] = [];
  const all: Figures[] = [];
  for (const peer of peers) {
    bench.say(`peers: reads of ${peer.name}`);
    try {
      await using running = await peer.start(bench.machine, flags);
      const version = await peer.version();
      if (running.one) one.push(await measureRequest(load, { peer, version, running, request: running.one }));
      if (running.all) all.push(await measureRequest(load, { peer, version, running, request: running.all }));
    } catch (error) {
      bench.leaveOut(`${peer.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { one: tableOf(one), all: tableOf(all) };
}

async function measureRequest(
  load: LoadMaker,
  parts: {
    readonly peer: Peer;
    readonly version: string;
    readonly running: RunningPeer;
    readonly request: PeerRequest;
  },
): Promise<Figures> {
  const { running, request, peer, version } = parts;
  const { bodyBytes, flags } = await checked(request);
  const { check: _check, ...sent } = request;
  const rates: number[] = [];
  const cpu: number[] = [];
  const latencies: { p50Ms: number; p99Ms: number }[] = [];
  // Round 0 warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    const before = cpuOf(running);
    const result = await load.run({ ...sent, connections: CONNECTIONS, seconds: SECONDS });
    if (round === 0) continue;
    rates.push(result.requests / result.seconds);
    cpu.push((cpuOf(running) - before) / result.requests);
    latencies.push({ p50Ms: result.p50Ms ?? Number.NaN, p99Ms: result.p99Ms ?? Number.NaN });
  }
  await checked(request);
  return {
    peer,
    version,
    rate: median(rates),
    cpuMs: median(cpu),
    p50Ms: median(latencies.map(({ p50Ms }) => p50Ms)),
    p99Ms: median(latencies.map(({ p99Ms }) => p99Ms)),
    bodyBytes,
    flags,
    memoryBytes: running.pids.reduce((sum, pid) => sum + residentBytes(pid), 0),
  };
}

/** Throws unless the answer is right: a wrong answer may be as fast as it likes. */
async function checked(request: PeerRequest): Promise<{ bodyBytes: number; flags: number }> {
  const response = await fetch(request.url, {
    headers: { ...request.headers, 'Accept-Encoding': 'identity' },
    ...(request.body !== undefined && { method: 'POST', body: request.body }),
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`it answered ${response.status}: ${text.slice(0, 100)}`);
  return { bodyBytes: Buffer.byteLength(text), flags: request.check(text) };
}

function cpuOf({ pids }: RunningPeer): number {
  return pids.reduce((sum, pid) => sum + cpuTimeMs(pid), 0);
}

function tableOf(figures: readonly Figures[]): Table {
  const [ours] = figures;
  return {
    headings: HEADINGS,
    lines: figures.map((each) => [
      `${each.peer.name} ${each.version}`,
      perSecond(each.rate),
      ours === undefined ? '' : times(ours.rate / each.rate),
      `${wait(each.p50Ms)} / ${wait(each.p99Ms)}`,
      microseconds(each.cpuMs),
      ours === undefined ? '' : times(each.cpuMs / ours.cpuMs),
      `${bytes(each.bodyBytes)} (${each.flags})`,
      mebibytes(each.memoryBytes),
      each.peer.remark,
    ]),
  };
}

function wait(ms: number): string {
  return Number.isNaN(ms) ? '-' : milliseconds(ms);
}
