import { CHANGES_QUERY } from '@halyard/protocol';
import { startNode } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { changeRequest } from './changes.ts';
import { ENVIRONMENT, fillNode } from './fixture.ts';
import { mebibytes, milliseconds, percent, verdict } from './format.ts';
import { pin } from './machine.ts';
import { cpuTimeMs, peakBytes, resetPeak, residentBytes } from './process-figures.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
import { Worker } from './worker.ts';
import type { StreamReaderCommands } from './workers/stream-reader.ts';

const FLAGS = 1_000;
const STREAMS = 1_000;
/** The two forms in turn, so often; the first change of each turn warms up. */
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

/** What changes took in one form: each to the last byte on the last stream, and the processor time of the server. */
interface FormTimes {
  readonly lastMs: number[];
  readonly cpuMs: number[];
}

async function measureForms(bench: Bench): Promise<Row[]> {
  await using stage = await startStage(bench, FLAGS);
  const times = { maps: emptyTimes(), changes: emptyTimes() };
  for (let turn = 1; turn <= TURNS; turn++) {
    bench.say(`large-maps: ${STREAMS} streams of ${FLAGS} flags in both forms, turn ${turn} of ${TURNS}`);
    for (const form of ['maps', 'changes'] as const) await measureTurn(stage, form, times[form]);
  }

  const [maps, changes] = [median(times.maps.lastMs), median(times.changes.lastMs)];
  const [mapsCpu, changesCpu] = [median(times.maps.cpuMs), median(times.changes.cpuMs)];
  const what = `a change to ${STREAMS} streams of ${FLAGS} flags, sent as changes`;
  return [
    {
      what: `${what}: last reader`,
      measured: milliseconds(changes),
      reference: `whole maps: ${milliseconds(maps)}`,
      ratio: percent(changes / maps),
      goal: '<= 34 ms',
      verdict: verdict(changes <= 34),
    },
    {
      what: `${what}: processor time`,
      measured: milliseconds(changesCpu),
      reference: `whole maps: ${milliseconds(mapsCpu)}`,
      ratio: percent(changesCpu / mapsCpu),
      goal: '',
      verdict: '',
    },
  ];
}

async function measureTurn(stage: Stage, form: 'maps' | 'changes', times: FormTimes): Promise<void> {
  await stage.open(form, STREAMS);
  for (let n = 0; n < CHANGES_IN_TURN; n++) {
    const before = cpuTimeMs(stage.pid);
    const { lastMs } = await stage.change(1);
    if (n === 0) continue;
    times.lastMs.push(lastMs);
    times.cpuMs.push(cpuTimeMs(stage.pid) - before);
  }
  await stage.close();
}

/** No queue may grow where whole maps could not be sent at all. */
async function measureMany(bench: Bench): Promise<Row[]> {
  const count = Math.min(MANY, bench.machine.fileLimit - 700);
  bench.say(`large-maps: ${count} streams of changes, ${MANY} flags`);
  await using stage = await startStage(bench, MANY);
  await stage.open('changes', count);
  // The first change after the opening is followed by what the garbage collector makes of it.
  await stage.change(1);

  const before = residentBytes(stage.pid);
  resetPeak(stage.pid);
  const { lastMs } = await stage.change(BURST);
  const peak = peakBytes(stage.pid);

  const what = `${BURST} changes at once to ${count} streams of ${MANY} flags, sent as changes`;
  return [
    {
      what: `${what}: peak memory`,
      measured: `${mebibytes(peak)} (${mebibytes(before)} before)`,
      reference: '',
      ratio: percent(peak / before),
      goal: '<= 64 MiB more',
      verdict: verdict(peak - before <= 64 * 2 ** 20),
    },
    {
      what: `${what}: each, to the last byte of all`,
      measured: milliseconds(lastMs / BURST),
      reference: '',
      ratio: '',
      goal: '',
      verdict: '',
    },
  ];
}

/** A node with one reader of its streams. */
interface Stage extends AsyncDisposable {
  readonly pid: number;
  open(form: 'maps' | 'changes', count: number): Promise<void>;
  /** Sends so many changes at once; settles when every stream has the last of them. */
  change(count: number): Promise<{ readonly lastMs: number }>;
  close(): Promise<number>;
}

async function startStage({ machine }: Bench, flags: number): Promise<Stage> {
  const node = await startNode();
  await pin(machine, node.pid, 'server');
  const { headers } = await fillNode(node, flags);
  const reader = await Worker.start<StreamReaderCommands>(machine, 'stream-reader.ts', 'readers');
  let serial = 0;

  return {
    pid: node.pid,
    open: async (form, count) => {
      const url = `${node.url}/v1/stream?env=${ENVIRONMENT}${form === 'changes' ? `&${CHANGES_QUERY}` : ''}`;
      for (let open = 0; open < count; open += OPENED_AT_ONCE)
        await reader.ask('open', { url, headers, count: Math.min(OPENED_AT_ONCE, count - open) });
    },
    change: (count) =>
      reader.ask(
        'burst',
        Array.from({ length: count }, () => changeRequest(node, ++serial)),
      ),
    close: () => reader.ask('close', null),
    [Symbol.asyncDispose]: async () => {
      await reader[Symbol.asyncDispose]();
      await node.stop();
    },
  };
}

function emptyTimes(): FormTimes {
  return { lastMs: [], cpuMs: [] };
}
