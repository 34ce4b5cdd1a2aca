import type { Bench } from './bench.ts';
import { bytes, milliseconds, perSecond } from './format.ts';
import { openFilled } from './node.ts';
import { bytesOfEach } from './process-figures.ts';
import { type ChangeFigures, meteredChange, middleOf, StreamReaders } from './readers.ts';
import { p99Of, ReadProbe, waits } from './reads-wait.ts';
import { answersOf, frameOf, startBareStreams, startLoop } from './references.ts';
import { inTurn } from './rounds.ts';
import { type Row, rowOf } from './row.ts';
import type { Streaming } from './running.ts';
import { median } from './statistics.ts';
import type { ProbeResult } from './workers/requests.ts';

const FLAGS = 26;
const STREAMS = 10_000;
const OPENINGS = 3;
const CHANGES = 9;
const PROBE_SECONDS = 4;

const BARE = 'bare Bun.serve streams';
const SOCKETS = 'plain sockets';

/** A server of streams, with the processes that read them, and its figures. */
interface Side {
  readonly name: string;
  readonly running: Streaming;
  readonly readers: StreamReaders;
  readonly openingSeconds: number[];
  readonly bytesPerStream: number;
}

type Measured = Side & ChangeFigures;

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
  const servers: Readonly<Record<string, Streaming | undefined>> = {
    halyard: node,
    [BARE]: started.use(await startBareStreams(machine, { frame })),
    [SOCKETS]: started.use(await startBareStreams(machine, { frame, on: 'sockets' })),
    'send in C': started.use(await startLoop(bench, answers)),
  };

  const sides: Side[] = [];
  for (const [name, running] of Object.entries(servers)) {
    if (running === undefined) continue;
    say(`streams: ${count} on ${name}`);
    const readers = started.use(new StreamReaders(machine, count));
    sides.push({ name, running, readers, ...(await firstOpening(running, readers, count)) });
  }
  for (let opening = 2; opening <= OPENINGS; opening++) for (const side of sides) await reopen(side, count);

  say(`streams: ${CHANGES} changes on each`);
  const changes = await inTurn(sides, CHANGES, ({ readers, running }, round) =>
    meteredChange(readers, running, round),
  );
  const figures = [...changes].map(([side, all]) => ({ ...side, ...middleOf(all) }));
  const [own, ...others] = figures;
  const [bare] = others;
  if (own === undefined || bare === undefined) throw new Error('a side was not measured');
  return [
    ...rowsOf(count, bytes(frame.length), own, bare, others),
    rowOf(
      `GET /v1/flags/{key} p99 while changes go to ${count} streams`,
      waits,
      await readWaits(bench, own),
      {
        by: p99Of,
        beside: ['the same on the bare server', await readWaits(bench, bare)],
        goal: '< 20 ms',
      },
    ),
  ];
}

/** The very first opening of a process: only here is its memory that of the streams. */
async function firstOpening({ pids, stream }: Streaming, readers: StreamReaders, count: number) {
  await readers.open(stream, 1);
  await readers.close();
  const { result, each } = await bytesOfEach(pids, count, () => readers.open(stream, count));
  return { openingSeconds: [result], bytesPerStream: each };
}

async function reopen({ running, readers, openingSeconds }: Side, count: number): Promise<void> {
  await readers.close();
  // The server notices each end, which is not part of the opening.
  await Bun.sleep(500);
  openingSeconds.push(await readers.open(running.stream, count));
}

/** Reads at a steady pace while one change after the other goes to all streams. */
async function readWaits(bench: Bench, { name, running, readers }: Side): Promise<ProbeResult> {
  const read = running.requests?.one;
  if (read === undefined) throw new Error(`${name} has no read`);
  bench.say(`streams: reads on ${name} while changes go out`);
  await using probe = new ReadProbe(bench.machine, read);
  const { reads } = await probe.during(async () => {
    const end = performance.now() + PROBE_SECONDS * 1000;
    for (let serial = CHANGES + 1; performance.now() < end; serial++) {
      await readers.change(running.stream, serial);
    }
  });
  return reads;
}

function rowsOf(
  count: number,
  frame: string,
  own: Measured,
  bare: Measured,
  others: readonly Measured[],
): Row[] {
  const rate = ({ openingSeconds }: Side) => count / median(openingSeconds);
  const describe = ({ lastMs, cpuMs }: ChangeFigures) =>
    `${milliseconds(lastMs)} (${milliseconds(cpuMs)} CPU)`;
  return [
    rowOf(`${count} idle streams, memory of each`, bytes, own.bytesPerStream, {
      beside: [BARE, bare.bytesPerStream],
      goal: '<= 5 KiB',
    }),
    rowOf(`opening ${count} streams`, perSecond, rate(own), {
      beside: [BARE, rate(bare)],
      goal: '>= 10 k/s',
    }),
    ...others.map((side) =>
      rowOf<ChangeFigures>(
        `a change to ${count} streams, ${frame} frame, to the last byte read`,
        describe,
        own,
        {
          by: ({ lastMs }) => lastMs,
          beside: [`a loop over ${side.name}`, side],
          ...(side.name !== SOCKETS && { goal: { '<= 1.30 x': own.lastMs / side.lastMs } }),
        },
      ),
    ),
  ];
}
