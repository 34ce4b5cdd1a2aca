import { type NodeProcess, startNode, startPostgres, temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { ENVIRONMENT, fillNode, flagKey, PROJECT } from './fixture.ts';
import { milliseconds, perSecond, times, verdict } from './format.ts';
import { pin } from './machine.ts';
import { cpuTimeMs } from './process-figures.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
import { Worker } from './worker.ts';
import type { BareCommitCommands, CommitPlan, CommitResult } from './workers/bare-commits.ts';
import type { WritersCommands, WritersResult } from './workers/writers.ts';

const FLAGS = 100;
const WRITERS = [1, 32] as const;
const ROUNDS = 3;
const SECONDS = 2;

/** What is to be reached on an engine. */
interface Goals {
  /** Processor time of one change of one writer, in milliseconds. */
  readonly cpuMs: number;
  /** How long one writer waits for a change at the median; absent where nothing is set. */
  readonly p50Ms?: number;
  /** Changes a second of all writers. */
  readonly rate: number;
}

const GOALS = {
  SQLite: { cpuMs: 0.6, rate: 2000 },
  PostgreSQL: { cpuMs: 1, p50Ms: 3, rate: 1000 },
} as const satisfies Record<string, Goals>;

/** The figures of so many writers, one of each per round. */
interface Figures {
  readonly rates: number[];
  readonly cpuMs: number[];
  readonly p50Ms: number[];
  readonly bareRates: number[];
  readonly bareCpuMs: number[];
}

/** Changes through the management API, by one writer and by many in one environment, on each engine. */
export async function measureWrites(bench: Bench): Promise<readonly Row[]> {
  using folder = temporaryFolder();
  bench.say('writes: on SQLite');
  const sqlite = await measureEngine(bench, {}, { sqlite: folder.file('bare.db') });
  await using server = await startPostgres();
  bench.say('writes: on PostgreSQL');
  const databaseUrl = await server.createDatabase();
  const postgres = await measureEngine(bench, { databaseUrl }, { postgres: await server.createDatabase() });
  return [...rowsOf('SQLite', sqlite, GOALS.SQLite), ...rowsOf('PostgreSQL', postgres, GOALS.PostgreSQL)];
}

async function measureEngine(
  { machine }: Bench,
  options: { readonly databaseUrl?: string },
  place: CommitPlan['place'],
): Promise<Map<number, Figures>> {
  await using writing = await Worker.start<WritersCommands>(machine, 'writers.ts', 'load');
  await using bare = await Worker.start<BareCommitCommands>(machine, 'bare-commits.ts', 'server');
  const node = await startNode(options);
  try {
    await pin(machine, node.pid, 'server');
    await fillNode(node, FLAGS);
    const figures = new Map(WRITERS.map((writers) => [writers, emptyFigures()] as const));
    // Round 0 warms up. The sides take turns, so that a slow moment of the machine meets both.
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [writers, own] of figures) {
        const before = cpuTimeMs(node.pid);
        const written = await writing.ask('run', planOf(node, writers, SECONDS));
        const cpuMs = (cpuTimeMs(node.pid) - before) / written.changes;
        const committed = await bare.ask('run', { place, writers, seconds: SECONDS / 2 });
        if (round > 0) take(own, written, cpuMs, committed);
      }
    }
    return figures;
  } finally {
    await node.stop();
  }
}

/** Writers of a filled node, all in one environment. */
export function planOf(node: Pick<NodeProcess, 'url' | 'adminToken'>, writers: number, seconds: number) {
  return {
    url: node.url,
    adminToken: node.adminToken,
    project: PROJECT,
    environments: [ENVIRONMENT],
    keys: Array.from({ length: writers }, (_, writer) => flagKey(writer)),
    seconds,
  };
}

function emptyFigures(): Figures {
  return { rates: [], cpuMs: [], p50Ms: [], bareRates: [], bareCpuMs: [] };
}

function take(own: Figures, written: WritersResult, cpuMs: number, committed: CommitResult): void {
  own.rates.push(written.changes / written.seconds);
  own.cpuMs.push(cpuMs);
  own.p50Ms.push(written.p50Ms);
  own.bareRates.push(committed.commits / committed.seconds);
  own.bareCpuMs.push(committed.cpuMs / committed.commits);
}

function rowsOf(engine: string, figures: ReadonlyMap<number, Figures>, goals: Goals): Row[] {
  return [...figures].flatMap(([writers, own]) => {
    const who = writers === 1 ? '1 writer' : `${writers} writers in one environment`;
    const [rate, bareRate] = [median(own.rates), median(own.bareRates)];
    const [cpu, bareCpu] = [median(own.cpuMs), median(own.bareCpuMs)];
    const p50 = median(own.p50Ms);
    const isAlone = writers === 1;
    return [
      {
        what: `${engine}: changes of ${who}`,
        measured: `${perSecond(rate)} (p50 ${milliseconds(p50)})`,
        reference: `bare commits, one row each: ${perSecond(bareRate)}`,
        ratio: times(rate / bareRate),
        ...(isAlone ? waitGoal(p50, goals) : goal(`>= ${perSecond(goals.rate)}`, rate >= goals.rate)),
      },
      {
        what: `${engine}: processor time of a change, ${who}`,
        measured: milliseconds(cpu),
        reference: `a bare commit: ${milliseconds(bareCpu)}`,
        ratio: times(cpu / bareCpu),
        ...(isAlone ? goal(`<= ${goals.cpuMs.toFixed(1)} ms`, cpu <= goals.cpuMs) : goal()),
      },
    ];
  });
}

function waitGoal(p50: number, { p50Ms }: Goals): Pick<Row, 'goal' | 'verdict'> {
  return p50Ms === undefined ? goal() : goal(`p50 <= ${p50Ms} ms`, p50 <= p50Ms);
}

function goal(text = '', isReached?: boolean): Pick<Row, 'goal' | 'verdict'> {
  return { goal: text, verdict: isReached === undefined ? '' : verdict(isReached) };
}
