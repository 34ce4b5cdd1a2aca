import type { Bench } from './bench.ts';
import { bytes, milliseconds, perSecond, times } from './format.ts';
import { openFilled } from './node.ts';
import { metered, settledBytes } from './process-figures.ts';
import { ReadProbe } from './reads-wait.ts';
import { answersOf, frameOf, startBareStreams, startLoop } from './references.ts';
import type { Row } from './row.ts';
import type { Running, SubjectStream } from './running.ts';
import { median, sum } from './statistics.ts';
import { Worker } from './worker.ts';
import type { StreamReaderCommands } from './workers/stream-reader.ts';

const FLAGS = 26;
const STREAMS = 10_000;
const OPENINGS = 3;
const CHANGES = 9;
const PROBE_SECONDS = 4;

const OURS = 'halyard';
const BARE = 'bare Bun.serve streams';
const SOCKETS = 'plain sockets';
const LOOP = 'send in C';

/** A server of streams, with the process that reads them. */
interface Side {
  readonly name: string;
  readonly running: Running;
  readonly stream: SubjectStream;
  readonly reader: Worker<StreamReaderCommands>;
  readonly openingSeconds: number[];
  readonly lastMs: number[];
  readonly cpuMs: number[];
  bytesPerStream: number;
}

/** Ten thousand open streams: what they cost idle, how fast they open, and a change that goes to all of them. */
export async function measureStreams(bench: Bench): Promise<readonly Row[]> {
  const { machine, say } = bench;
  const count = Math.min(STREAMS, machine.fileLimit - 700);
  if (count < STREAMS) {
    bench.leaveOut(`${STREAMS} streams: a process may open ${machine.fileLimit} files, so it were ${count}`);
  }

  await using started = new AsyncDisposableStack();
  const node = started.use(await openFilled(bench, FLAGS));
  const answers = await answersOf(node);
  const frame = frameOf(answers);
  const bare = started.use(await startBareStreams(machine, { frame }));
  const sockets = started.use(await startBareStreams(machine, { frame, on: 'sockets' }));
  const loop = started.use(await startLoop(bench, answers));

  const sides: Side[] = [];
  for (const [name, running] of [
    [OURS, node],
    [BARE, bare],
    [SOCKETS, sockets],
    [LOOP, loop],
  ] as const) {
    const stream = running?.stream;
    if (running === undefined || stream === undefined) continue;
    const reader = started.use(
      await Worker.start<StreamReaderCommands>(machine, 'stream-reader.ts', 'readers'),
    );
    const figures = { openingSeconds: [], lastMs: [], cpuMs: [], bytesPerStream: Number.NaN };
    sides.push({ name, running, stream, reader, ...figures });
  }

  for (const side of sides) {
    say(`streams: ${count} on ${side.name}`);
    await open(side, count);
  }
  for (let opening = 2; opening <= OPENINGS; opening++) for (const side of sides) await reopen(side, count);
  say(`streams: ${CHANGES} changes on each`);
  for (let round = 0; round <= CHANGES; round++) for (const side of sides) await change(side, round);

  const waits = new Map<string, { p99Ms: number; maxMs: number }>();
  for (const side of sides.slice(0, 2)) waits.set(side.name, await readWaits(bench, side));
  return rowsOf({ count, frame, sides, waits });
}

/** The very first opening of a process: only here is its memory that of the streams. */
async function open(side: Side, count: number): Promise<void> {
  const { reader, running } = side;
  const { url, headers } = side.stream;
  await reader.ask('open', { url, headers, count: 1 });
  await reader.ask('close', null);
  const before = await settledBytes(running.pids);
  side.openingSeconds.push(await reader.ask('open', { url, headers, count }));
  side.bytesPerStream = ((await settledBytes(running.pids)) - before) / count;
}

async function reopen({ stream, reader, openingSeconds }: Side, count: number): Promise<void> {
  await reader.ask('close', null);
  // The server notices each end, which is not part of the opening.
  await Bun.sleep(500);
  openingSeconds.push(await reader.ask('open', { url: stream.url, headers: stream.headers, count }));
}

async function change({ stream, reader, running, lastMs, cpuMs }: Side, round: number): Promise<void> {
  const measured = await metered(running.pids, () => reader.ask('change', stream.change(round)));
  // Round 0 warms up.
  if (round === 0) return;
  lastMs.push(measured.result.lastMs);
  cpuMs.push(measured.cpuMs);
}

/** Reads at a steady pace while one change after the other goes to all streams. */
async function readWaits(bench: Bench, { name, running, stream, reader }: Side) {
  const read = running.requests?.one;
  if (read === undefined) throw new Error(`${name} has no read`);
  bench.say(`streams: reads on ${name} while changes go out`);
  await using probe = await ReadProbe.start(bench.machine, read);
  const { reads } = await probe.during(async () => {
    const end = performance.now() + PROBE_SECONDS * 1000;
    for (let serial = CHANGES + 1; performance.now() < end; serial++) {
      await reader.ask('change', stream.change(serial));
    }
  });
  return reads;
}

function rowsOf({
  count,
  frame,
  sides,
  waits,
}: {
  readonly count: number;
  readonly frame: string;
  readonly sides: readonly Side[];
  readonly waits: ReadonlyMap<string, { readonly p99Ms: number; readonly maxMs: number }>;
}): Row[] {
  const [own, bare, ...others] = sides;
  const [ownReads, bareReads] = [waits.get(OURS), waits.get(BARE)];
  if (!own || !bare || !ownReads || !bareReads) throw new Error('a side was not measured');
  const rate = (side: Side) => count / median(side.openingSeconds);
  const last = (side: Side) => median(side.lastMs);
  // Of all changes: the kernel reports processor time in ticks.
  const cpu = (side: Side) => sum(side.cpuMs) / side.cpuMs.length;
  const describe = (side: Side) => `${milliseconds(last(side))} (${milliseconds(cpu(side))} CPU)`;
  const wait = ({ p99Ms, maxMs }: typeof ownReads) => `${milliseconds(p99Ms)} (max ${milliseconds(maxMs)})`;

  return [
    {
      what: `${count} idle streams, memory of each`,
      measured: bytes(own.bytesPerStream),
      reference: `${BARE}: ${bytes(bare.bytesPerStream)}`,
      ratio: times(own.bytesPerStream / bare.bytesPerStream),
      goal: '<= 5 KiB',
      isReached: own.bytesPerStream <= 5 * 1024,
    },
    {
      what: `opening ${count} streams`,
      measured: perSecond(rate(own)),
      reference: `${BARE}: ${perSecond(rate(bare))}`,
      ratio: times(rate(own) / rate(bare)),
      goal: '>= 10 k/s',
      isReached: rate(own) >= 10_000,
    },
    ...[bare, ...others].map((side) => ({
      what: `a change to ${count} streams, ${bytes(frame.length)} frame, to the last byte read`,
      measured: describe(own),
      reference: `a loop over ${side.name}: ${describe(side)}`,
      ratio: times(last(own) / last(side)),
      ...(side.name !== SOCKETS && { goal: '<= 1.30 x', isReached: last(own) / last(side) <= 1.3 }),
    })),
    {
      what: `GET /v1/flags/{key} p99 while changes go to ${count} streams`,
      measured: wait(ownReads),
      reference: `the same on the bare server: ${wait(bareReads)}`,
      ratio: times(ownReads.p99Ms / bareReads.p99Ms),
      goal: '< 20 ms',
      isReached: ownReads.p99Ms < 20,
    },
  ];
}
