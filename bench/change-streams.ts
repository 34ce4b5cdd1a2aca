import { CHANGES_QUERY } from '@halyard/protocol';
import type { Bench } from './bench.ts';
import { mebibytes, milliseconds, percent, times } from './format.ts';
import { openFilled } from './node.ts';
import { metered, peakBytes, resetPeak, residentBytes } from './process-figures.ts';
import { StreamReaders } from './readers.ts';
import { answersOf, frameOf, startBareStreams, startLoop } from './references.ts';
import type { Row } from './row.ts';
import type { Running, SubjectStream } from './running.ts';
import { median, sum } from './statistics.ts';

const FLAGS = 1_000;
const STREAMS = 1_000;
/** All forms in turn, so often; the first change of each turn warms up. */
const TURNS = 3;
const CHANGES_IN_TURN = 4;
/** So many streams and flags, whose whole maps would be 8 GB for each change. */
const MANY = 10_000;
const BURST = 20;
/** Streams that are opened at once: the first event of each is a whole map, and the answer to a question has its time. */
const OPENED_AT_ONCE = 1_000;

/** What is sent for a change, and by whom. */
interface Form {
  readonly name: string;
  readonly pids: readonly number[];
  readonly stream: SubjectStream;
  readonly lastMs: number[];
  readonly cpuMs: number[];
}

/** Streams of changes beside those of whole maps, and these beside loops that send the same bytes. */
export async function measureChangeStreams(bench: Bench): Promise<readonly Row[]> {
  return [...(await measureForms(bench)), ...(await measureMany(bench))];
}

/** The same stream in the form of changes. */
function asChanges(stream: SubjectStream): SubjectStream {
  return { ...stream, url: `${stream.url}&${CHANGES_QUERY}` };
}

async function measureForms(bench: Bench): Promise<Row[]> {
  await using started = new AsyncDisposableStack();
  const node = started.use(await openFilled(bench, FLAGS));
  const answers = await answersOf(node);
  const bare = started.use(await startBareStreams(bench.machine, { frame: frameOf(answers) }));
  const loop = started.use(await startLoop(bench, answers));
  const formOf = (name: string, running: Running | undefined, stream = running?.stream): Form[] =>
    running && stream ? [{ name, pids: running.pids, stream, lastMs: [], cpuMs: [] }] : [];
  const forms = [
    ...formOf('whole maps', node),
    ...formOf('changes', node, asChanges(node.stream)),
    ...formOf('a loop over bare Bun.serve streams', bare),
    ...formOf('a loop over send in C', loop),
  ];

  let serial = 0;
  for (let turn = 1; turn <= TURNS; turn++) {
    bench.say(`large-maps: ${STREAMS} streams of ${FLAGS} flags in each form, turn ${turn} of ${TURNS}`);
    for (const { pids, stream, lastMs, cpuMs } of forms) {
      await using readers = new StreamReaders(bench.machine);
      await readers.open(stream, STREAMS);
      for (let n = 0; n < CHANGES_IN_TURN; n++) {
        const measured = await metered(pids, () => readers.change(stream, ++serial));
        if (n === 0) continue;
        lastMs.push(measured.result.lastMs);
        cpuMs.push(measured.cpuMs);
      }
    }
  }

  const [maps, changes, ...others] = forms;
  if (maps === undefined || changes === undefined) return [];
  const what = `a change to ${STREAMS} streams of ${FLAGS} flags`;
  const cpu = (form: Form) => sum(form.cpuMs) / form.cpuMs.length;
  return [
    {
      what: `${what}, sent as changes: last reader`,
      measured: milliseconds(median(changes.lastMs)),
      reference: `whole maps: ${milliseconds(median(maps.lastMs))}`,
      ratio: percent(median(changes.lastMs) / median(maps.lastMs)),
      goal: '<= 34 ms',
      isReached: median(changes.lastMs) <= 34,
    },
    {
      what: `${what}, sent as changes: processor time`,
      measured: milliseconds(cpu(changes)),
      reference: `whole maps: ${milliseconds(cpu(maps))}`,
      ratio: percent(cpu(changes) / cpu(maps)),
    },
    ...others.map((other) => ({
      what: `${what}, sent as whole maps: last reader`,
      measured: milliseconds(median(maps.lastMs)),
      reference: `${other.name}: ${milliseconds(median(other.lastMs))}`,
      ratio: times(median(maps.lastMs) / median(other.lastMs)),
    })),
  ];
}

/** No queue may grow where whole maps could not be sent at all. */
async function measureMany(bench: Bench): Promise<Row[]> {
  const count = Math.min(MANY, bench.machine.fileLimit - 700);
  bench.say(`large-maps: ${count} streams of changes, ${MANY} flags`);
  await using node = await openFilled(bench, MANY);
  await using readers = new StreamReaders(bench.machine, count);
  const stream = asChanges(node.stream);
  for (let open = 0; open < count; open += OPENED_AT_ONCE) {
    await readers.open(stream, Math.min(OPENED_AT_ONCE, count - open));
  }
  // The first change after the opening is followed by what the garbage collector makes of it.
  await readers.change(stream, 0);

  const before = residentBytes(node.pid);
  resetPeak(node.pid);
  const { lastMs } = await readers.change(stream, 1, BURST);
  const peak = peakBytes(node.pid);
  const what = `${BURST} changes at once to ${count} streams of ${MANY} flags, sent as changes`;
  return [
    {
      what: `${what}: peak memory`,
      measured: `${mebibytes(peak)} (${mebibytes(before)} before)`,
      ratio: percent(peak / before),
      goal: '<= 64 MiB more',
      isReached: peak - before <= 64 * 2 ** 20,
    },
    { what: `${what}: each, to the last byte of all`, measured: milliseconds(lastMs / BURST) },
  ];
}
