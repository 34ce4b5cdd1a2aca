import { CHANGES_QUERY } from '@halyard/protocol';
import type { Bench } from './bench.ts';
import { mebibytes, milliseconds, percent } from './format.ts';
import { openFilled } from './node.ts';
import { withPeak } from './process-figures.ts';
import { type ChangeFigures, meteredChange, middleOf, StreamReaders } from './readers.ts';
import { inTurn } from './rounds.ts';
import { type Row, rowOf } from './row.ts';
import type { SubjectStream } from './running.ts';

const FLAGS = 1_000;
const STREAMS = 1_000;
/** Both forms in turn, so often; the first change of each turn warms up. */
const TURNS = 3;
const CHANGES_IN_TURN = 4;
/** So many streams and flags, whose whole maps would be 8 GB for each change. */
const MANY = 10_000;
const BURST = 20;
/** Streams that are opened at once: the first event of each is a whole map, and the answer to a question has its time. */
const OPENED_AT_ONCE = 1_000;

/** Streams of changes beside those of whole maps. */
export async function measureChangeStreams(bench: Bench): Promise<readonly Row[]> {
  return [...(await measureForms(bench)), ...(await measureMany(bench))];
}

/** The same stream in the form of changes. */
function asChanges(stream: SubjectStream): SubjectStream {
  return { ...stream, url: `${stream.url}&${CHANGES_QUERY}` };
}

async function measureForms(bench: Bench): Promise<Row[]> {
  bench.say(`large-maps: ${STREAMS} streams of ${FLAGS} flags in each form, ${TURNS} turns`);
  await using node = await openFilled(bench, FLAGS);
  const { pids, stream } = node;
  let serial = 0;
  const turns = await inTurn([stream, asChanges(stream)], TURNS, async (form) => {
    await using readers = new StreamReaders(bench.machine);
    await readers.open(form, STREAMS);
    const changes: ChangeFigures[] = [];
    for (let n = 0; n < CHANGES_IN_TURN; n++) {
      changes.push(await meteredChange(readers, { pids, stream: form }, ++serial));
    }
    return changes.slice(1);
  });

  const [maps, changes] = [...turns.values()].map((all) => middleOf(all.flat()));
  if (maps === undefined || changes === undefined) return [];
  const what = `a change to ${STREAMS} streams of ${FLAGS} flags, sent as changes`;
  return [
    rowOf(`${what}: last reader`, milliseconds, changes.lastMs, {
      beside: ['whole maps', maps.lastMs],
      ratio: percent,
      goal: '<= 34 ms',
    }),
    rowOf(`${what}: processor time`, milliseconds, changes.cpuMs, {
      beside: ['whole maps', maps.cpuMs],
      ratio: percent,
    }),
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

  const { result, before, peak } = await withPeak(node.pid, () => readers.change(stream, 1, BURST));
  const what = `${BURST} changes at once to ${count} streams of ${MANY} flags, sent as changes`;
  return [
    rowOf(`${what}: peak memory`, () => `${mebibytes(peak)} (${mebibytes(before)} before)`, peak, {
      goal: { '<= 64 MiB more': peak - before },
    }),
    rowOf(`${what}: each, to the last byte of all`, milliseconds, result.lastMs / BURST),
  ];
}
