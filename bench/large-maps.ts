import { type NodeProcess, startNode } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { measureChangeStreams } from './change-streams.ts';
import { changeRequest } from './changes.ts';
import { ENVIRONMENT, type Fixture, fillNode, flagKey, PROJECT } from './fixture.ts';
import { bytes, mebibytes, microseconds, milliseconds, percent, times, verdict } from './format.ts';
import { startLoadMaker } from './load.ts';
import { pin } from './machine.ts';
import { startNginx } from './nginx.ts';
import { cpuTimeMs, peakBytes, resetPeak, residentBytes } from './process-figures.ts';
import { ReadProbe } from './reads-wait.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
import { PATIENCE_MS } from './within.ts';
import { Worker } from './worker.ts';
import type { BareRestCommands } from './workers/bare-rest.ts';
import type { BareStreamsCommands } from './workers/bare-streams.ts';
import type { ProbeResult } from './workers/latency-probe.ts';
import type { ChangeRequest, ChangeTimes, StreamReaderCommands } from './workers/stream-reader.ts';

const FLAGS = 10_000;
const CONNECTIONS = 32;
const ROUNDS = 5;
const SECONDS = 1;
const COMPRESSED_READS = 40;
const STREAMS = 1_000;
const BURST = 5;
/** A node of this many flags has frames so large that a few do not fit into the buffers of a slow reader's connection. */
const HUGE = 50_000;
const SLOW_READERS = 8;
const SLOW_FRAMES = 3;

/** Environments of ten and fifty thousand flags: reads of the whole map, its compression, and frames to many streams. */
export async function measureLargeMaps(bench: Bench): Promise<readonly Row[]> {
  const node = await startNode();
  try {
    await pin(bench.machine, node.pid, 'server');
    const fixture = await fillNode(node, FLAGS);
    return [
      ...(await measureWholeReads(bench, node, fixture)),
      ...(await measureCompressedReads(bench, node, fixture)),
      ...(await measureBurst(bench, node, fixture)),
      ...(await measureSlowReaders(bench)),
      ...(await measureChangeStreams(bench)),
    ];
  } finally {
    await node.stop();
  }
}

/** Most of it is copying the bytes, which the runtime and nginx do as well. */
async function measureWholeReads(bench: Bench, node: NodeProcess, { headers }: Fixture): Promise<Row[]> {
  const { machine } = bench;
  await using load = await startLoadMaker(machine);
  const url = wholeUrl(node);
  const response = await fetch(url, { headers: { ...headers, 'Accept-Encoding': 'identity' } });
  const body = await response.text();

  await using bare = await Worker.start<BareRestCommands>(machine, 'bare-rest.ts', 'server');
  const sameHeaders = { 'Content-Type': 'application/json' };
  const served = await bare.ask('serve', { single: body, whole: body, headers: sameHeaders });
  const { nginx: program } = machine;
  await using nginx =
    program === undefined
      ? undefined
      : await startNginx(
          { ...machine, nginx: program },
          { constant: '', file: new TextEncoder().encode(body) },
        );

  const targets = [
    { name: 'halyard', url, headers, pid: node.pid },
    { name: 'bare Bun.serve', url: `${served.url}/body`, headers: {}, pid: bare.pid },
    ...(nginx
      ? [{ name: 'nginx, the bytes as a file', url: `${nginx.url}/file`, headers: {}, pid: nginx.pid }]
      : []),
  ];

  const cpuMs = new Map<string, number[]>(targets.map(({ name }) => [name, []]));
  bench.say(`large-maps: reads of ${FLAGS} flags`);
  // Round 0 warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const { name, pid, ...request } of targets) {
      const before = cpuTimeMs(pid);
      const { requests } = await load.run({ ...request, connections: CONNECTIONS, seconds: SECONDS });
      if (round > 0) cpuMs.get(name)?.push((cpuTimeMs(pid) - before) / requests);
    }
  }

  const own = median(cpuMs.get('halyard') ?? []);
  return targets.slice(1).map(({ name }, index) => {
    const reference = median(cpuMs.get(name) ?? []);
    return {
      what: `GET /v1/flags, ${FLAGS} flags, ${bytes(body.length)}: processor time`,
      measured: microseconds(own),
      reference: `${name}: ${microseconds(reference)}`,
      ratio: percent(reference / own),
      ...(index === 0 ? goal('>= 85 %', reference / own >= 0.85) : goal()),
    };
  });
}

/** The first compressed read after a change makes the compressed bytes; other reads must not wait for that. */
async function measureCompressedReads(bench: Bench, node: NodeProcess, fixture: Fixture): Promise<Row[]> {
  await using probe = await ReadProbe.start(bench.machine, singleRead(node, fixture));
  const readAfterChange = async (encoding: string): Promise<ProbeResult> => {
    const { reads } = await probe.during(async () => {
      for (let n = 0; n < COMPRESSED_READS; n++) {
        const state = { enabled: true, value: `${encoding} ${n}` };
        await fixture.management.putState(PROJECT, ENVIRONMENT, flagKey(1), state);
        const response = await fetch(wholeUrl(node), {
          headers: { ...fixture.headers, 'Accept-Encoding': encoding },
          signal: AbortSignal.timeout(PATIENCE_MS),
        });
        await response.arrayBuffer();
      }
    });
    return reads;
  };

  const rows: Row[] = [];
  for (const encoding of ['gzip', 'zstd']) {
    bench.say(`large-maps: the first ${encoding} read after a change`);
    const plain = await readAfterChange('identity');
    const compressed = await readAfterChange(encoding);
    rows.push({
      what: `reads' p99 wait while the first ${encoding} reads of ${FLAGS} flags follow changes`,
      measured: waits(compressed),
      reference: `uncompressed ones: ${waits(plain)}`,
      ratio: times(compressed.p99Ms / plain.p99Ms),
      ...goal('<= 10 ms', compressed.p99Ms <= 10),
    });
  }
  return rows;
}

/** Every stream is sent more than the buffers of its connection hold. */
async function measureBurst(bench: Bench, node: NodeProcess, fixture: Fixture): Promise<Row[]> {
  const { machine } = bench;
  bench.say(`large-maps: ${BURST} changes at once to ${STREAMS} streams`);
  await using reader = await Worker.start<StreamReaderCommands>(machine, 'stream-reader.ts', 'readers');
  await using probe = await ReadProbe.start(machine, singleRead(node, fixture));
  const plan = { url: streamUrl(node), headers: fixture.headers, requests: changesOf(node, BURST) };
  const own = await burstOf(reader, node.pid, plan, probe);

  await using bare = await Worker.start<BareStreamsCommands>(machine, 'bare-streams.ts', 'server');
  const response = await fetch(wholeUrl(node), { headers: fixture.headers });
  const frame = `data: ${await response.text()}\n\n`;
  const { url } = await bare.ask('serve', { frame });
  const requests: ChangeRequest[] = Array.from({ length: BURST }, () => ({
    url: `${url}/change`,
    method: 'POST',
    headers: {},
    body: '',
  }));
  const floor = await burstOf(reader, bare.pid, { url: `${url}/v1/stream`, headers: {}, requests });

  const what = `${BURST} changes of ${FLAGS} flags at once to ${STREAMS} streams`;
  const reference = (text: string) => `a loop over bare Bun.serve streams: ${text}`;
  return [
    {
      what: `${what}, peak memory`,
      measured: `${mebibytes(own.peak)} (${mebibytes(own.before)} before)`,
      reference: reference(`${mebibytes(floor.peak)} (${mebibytes(floor.before)} before)`),
      ratio: times(own.peak / floor.peak),
      ...goal('<= 256 MiB', own.peak <= 256 * 2 ** 20),
    },
    {
      what: `${what}, to the last byte`,
      measured: milliseconds(own.times.lastMs),
      reference: reference(milliseconds(floor.times.lastMs)),
      ratio: times(own.times.lastMs / floor.times.lastMs),
      ...goal(),
    },
    ...(own.reads === undefined ? [] : [readRow(own.reads)]),
  ];
}

function readRow(reads: ProbeResult): Row {
  return {
    what: "reads' p99 wait while these frames go out",
    measured: waits(reads),
    reference: '',
    ratio: '',
    ...goal('<= 20 ms', reads.p99Ms <= 20),
  };
}

/** What a burst of changes took, and the memory of the server before it and at its highest. */
interface Burst {
  readonly before: number;
  readonly peak: number;
  readonly times: ChangeTimes;
  readonly reads?: ProbeResult;
}

async function burstOf(
  reader: Worker<StreamReaderCommands>,
  pid: number,
  plan: {
    readonly url: string;
    readonly headers: Readonly<Record<string, string>>;
    readonly requests: readonly ChangeRequest[];
  },
  probe?: ReadProbe,
): Promise<Burst> {
  await reader.ask('open', { url: plan.url, headers: plan.headers, count: STREAMS });
  const before = residentBytes(pid);
  resetPeak(pid);
  const change = () => reader.ask('burst', plan.requests);
  const watched = probe && (await probe.during(change));
  const times = watched?.result ?? (await change());
  const peak = peakBytes(pid);
  await reader.ask('close', null);
  return { before, peak, times, ...(watched && { reads: watched.reads }) };
}

/** A reader that is late by a few frames is slow, not lost: it must get them all. */
async function measureSlowReaders(bench: Bench): Promise<Row[]> {
  bench.say(`large-maps: slow readers of ${HUGE} flags`);
  const node = await startNode();
  try {
    await pin(bench.machine, node.pid, 'server');
    const { headers } = await fillNode(node, HUGE);
    await using reader = await Worker.start<StreamReaderCommands>(
      bench.machine,
      'stream-reader.ts',
      'readers',
    );
    await reader.ask('open', { url: streamUrl(node), headers, count: SLOW_READERS });
    const requests = changesOf(node, SLOW_FRAMES);
    const problem = await reader.ask('burstUnread', { requests, pauseMs: 200 }).then(() => undefined, String);
    return [
      {
        what: `streams of ${HUGE} flags survive ${SLOW_FRAMES} frames that are not read at once`,
        measured: problem === undefined ? `all ${SLOW_READERS}` : problem,
        reference: '',
        ratio: '',
        ...goal('all', problem === undefined),
      },
    ];
  } finally {
    await node.stop();
  }
}

function changesOf(node: NodeProcess, count: number): ChangeRequest[] {
  return Array.from({ length: count }, (_, serial) => changeRequest(node, serial));
}

function singleRead(node: NodeProcess, { headers }: Fixture) {
  return { url: `${node.url}/v1/flags/${flagKey(2)}?env=${ENVIRONMENT}`, headers };
}

function wholeUrl(node: NodeProcess): string {
  return `${node.url}/v1/flags?env=${ENVIRONMENT}`;
}

function streamUrl(node: NodeProcess): string {
  return `${node.url}/v1/stream?env=${ENVIRONMENT}`;
}

function waits({ p99Ms, maxMs }: ProbeResult): string {
  return `${milliseconds(p99Ms)} (max ${milliseconds(maxMs)})`;
}

function goal(text = '', isReached?: boolean): Pick<Row, 'goal' | 'verdict'> {
  return { goal: text, verdict: isReached === undefined ? '' : verdict(isReached) };
}
