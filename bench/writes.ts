import { type NodeProcess, type StartNodeOptions, startPostgres, temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { milliseconds, perSecond, times } from './format.ts';
import { ENVIRONMENT, flagKey, openFilled, PROJECT } from './node.ts';
import { metered } from './process-figures.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';
import { Worker } from './worker.ts';
import type { BareCommitCommands, CommitPlace } from './workers/bare-commits.ts';
import type { WritersCommands, WritersPlan } from './workers/writers.ts';

const FLAGS = 100;
const ROUNDS = 3;
const SECONDS = 2;
const ENVIRONMENTS = 8;

/** Who writes, and in how many environments. */
const CASES = [
  { writers: 1, environments: 1, name: '1 writer' },
  { writers: 32, environments: 1, name: '32 writers in one environment' },
  { writers: 32, environments: ENVIRONMENTS, name: `32 writers over ${ENVIRONMENTS} environments` },
] as const;

/** What is to be reached on an engine: the processor time and the wait of one writer, and the rates of many. */
const GOALS = {
  SQLite: { cpuMs: 0.6, p50Ms: undefined, rates: [undefined, 4000, 3000] },
  PostgreSQL: { cpuMs: 1, p50Ms: 3, rates: [undefined, 1000, undefined] },
} as const;

/** One round of a case. */
interface Round {
  readonly rate: number;
  readonly cpuMs: number;
  readonly p50Ms: number;
  readonly bareRate: number;
  readonly bareCpuMs: number;
}

/** Changes through the management API, by one writer and by many, on each engine. */
export async function measureWrites(bench: Bench): Promise<readonly Row[]> {
  using folder = temporaryFolder();
  bench.say('writes: on SQLite');
  const rows = await measureEngine(bench, 'SQLite', {}, { sqlite: folder.file('bare.db') });
  await using server = await startPostgres();
  bench.say('writes: on PostgreSQL');
  const databaseUrl = await server.createDatabase();
  const place = { postgres: await server.createDatabase() };
  return [...rows, ...(await measureEngine(bench, 'PostgreSQL', { databaseUrl }, place))];
}

async function measureEngine(
  bench: Bench,
  engine: keyof typeof GOALS,
  options: StartNodeOptions,
  place: CommitPlace,
): Promise<Row[]> {
  const { machine } = bench;
  await using writing = await Worker.start<WritersCommands>(machine, 'writers.ts', 'load');
  await using bare = await Worker.start<BareCommitCommands>(machine, 'bare-commits.ts', 'server');
  await using node = await openFilled(bench, FLAGS, options);
  const environments = await makeEnvironments(node);

  const rounds = CASES.map((): Round[] => []);
  // Round 0 warms up. The sides take turns, so that a slow moment of the machine meets both.
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [index, { writers, environments: places }] of CASES.entries()) {
      const plan = planOf(node, writers, SECONDS, environments.slice(0, places));
      const { result, cpuMs } = await metered(node.pids, () => writing.ask('run', plan));
      const committed = await bare.ask('run', { place, writers, seconds: SECONDS / 2 });
      if (round === 0) continue;
      rounds[index]?.push({
        rate: result.changes / result.seconds,
        cpuMs: cpuMs / result.changes,
        p50Ms: result.p50Ms,
        bareRate: committed.commits / committed.seconds,
        bareCpuMs: committed.cpuMs / committed.commits,
      });
    }
  }
  return CASES.flatMap((_, index) => rowsOf(engine, index, rounds[index] ?? []));
}

/** Makes environments beside the filled one. Returns all their names. */
export async function makeEnvironments({
  management,
}: Pick<Awaited<ReturnType<typeof openFilled>>, 'management'>) {
  const names: string[] = [ENVIRONMENT];
  for (let n = 1; n < ENVIRONMENTS; n++) {
    await management.createEnvironment(PROJECT, `env-${n}`);
    names.push(`env-${n}`);
  }
  return names;
}

/** Writers of a filled node, each with a flag of its own. */
export function planOf(
  { url, adminToken }: Pick<NodeProcess, 'url' | 'adminToken'>,
  writers: number,
  seconds: number,
  environments: readonly string[] = [ENVIRONMENT],
): WritersPlan {
  const keys = Array.from({ length: writers }, (_, writer) => flagKey(writer));
  return { url, adminToken, project: PROJECT, environments, keys, seconds };
}

function rowsOf(engine: keyof typeof GOALS, index: number, rounds: readonly Round[]): Row[] {
  const goals = GOALS[engine];
  const { name } = CASES[index] ?? CASES[0];
  const middle = (of: keyof Round) => median(rounds.map((round) => round[of]));
  const [rate, p50, cpu] = [middle('rate'), middle('p50Ms'), middle('cpuMs')];
  const wanted = goals.rates[index];
  return [
    {
      what: `${engine}: changes of ${name}`,
      measured: `${perSecond(rate)} (p50 ${milliseconds(p50)})`,
      reference: `bare commits, one row each: ${perSecond(middle('bareRate'))}`,
      ratio: times(rate / middle('bareRate')),
      ...(wanted && { goal: `>= ${perSecond(wanted)}`, isReached: rate >= wanted }),
      ...(index === 0 && goals.p50Ms && { goal: `p50 <= ${goals.p50Ms} ms`, isReached: p50 <= goals.p50Ms }),
    },
    {
      what: `${engine}: processor time of a change, ${name}`,
      measured: milliseconds(cpu),
      reference: `a bare commit: ${milliseconds(middle('bareCpuMs'))}`,
      ratio: times(cpu / middle('bareCpuMs')),
      ...(index === 0 && { goal: `<= ${goals.cpuMs.toFixed(1)} ms`, isReached: cpu <= goals.cpuMs }),
    },
  ];
}
