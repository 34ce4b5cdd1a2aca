import { type NodeProcess, type StartNodeOptions, startPostgres, temporaryFolder } from '@halyard/testing';
import type { Bench } from './bench.ts';
import { milliseconds, perSecond } from './format.ts';
import { ENVIRONMENT, flagKey, openFilled, PROJECT } from './node.ts';
import { metered } from './process-figures.ts';
import { inTurn, medians } from './rounds.ts';
import { type Row, rowOf } from './row.ts';
import { Worker } from './worker.ts';
import type { BareCommitCommands, CommitPlace } from './workers/bare-commits.ts';
import type { WritersCommands, WritersPlan } from './workers/writers.ts';

const FLAGS = 100;
const ROUNDS = 3;
const SECONDS = 2;
const ENVIRONMENTS = 8;

/** Who writes, and in how many environments; the goals of an engine for changes, and for the processor time of one. */
const CASES = [
  {
    writers: 1,
    environments: 1,
    name: '1 writer',
    goals: { SQLite: { cpu: '<= 0.6 ms' }, PostgreSQL: { p50: 'p50 <= 3 ms', cpu: '<= 1.0 ms' } },
  },
  {
    writers: 32,
    environments: 1,
    name: '32 writers in one environment',
    goals: { SQLite: { rate: '>= 4.0 k/s' }, PostgreSQL: { rate: '>= 1.0 k/s' } },
  },
  {
    writers: 32,
    environments: ENVIRONMENTS,
    name: `32 writers over ${ENVIRONMENTS} environments`,
    goals: { SQLite: { rate: '>= 3.0 k/s' }, PostgreSQL: {} },
  },
] as const;

/** The goals of a case, by what they are for. */
type Goals = Readonly<Partial<Record<'rate' | 'p50' | 'cpu', string>>>;

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
  engine: 'SQLite' | 'PostgreSQL',
  options: StartNodeOptions,
  place: CommitPlace,
): Promise<Row[]> {
  const { machine } = bench;
  await using writing = new Worker<WritersCommands>(machine, 'writers.ts', 'load');
  await using bare = new Worker<BareCommitCommands>(machine, 'bare-commits.ts', 'server');
  await using node = await openFilled(bench, FLAGS, options);
  const environments = await makeEnvironments(node);

  const rounds = await inTurn(CASES, ROUNDS, async ({ writers, environments: places }) => {
    const plan = planOf(node, writers, SECONDS, environments.slice(0, places));
    const { result, cpuMs } = await metered(node.pids, () => writing.ask('run', plan));
    const committed = await bare.ask('run', { place, writers, seconds: SECONDS / 2 });
    return {
      rate: result.changes / result.seconds,
      cpuMs: cpuMs / result.changes,
      p50Ms: result.p50Ms,
      bareRate: committed.commits / committed.seconds,
      bareCpuMs: committed.cpuMs / committed.commits,
    };
  });
  return [...rounds].flatMap(([{ name, goals }, all]) => {
    const { rate, cpuMs, p50Ms, bareRate, bareCpuMs } = medians(all);
    const goal: Goals = goals[engine];
    return [
      rowOf<{ rate: number; p50Ms?: number }>(
        `${engine}: changes of ${name}`,
        (of) => `${perSecond(of.rate)}${of.p50Ms === undefined ? '' : ` (p50 ${milliseconds(of.p50Ms)})`}`,
        { rate, p50Ms },
        {
          by: (of) => of.rate,
          beside: ['bare commits, one row each', { rate: bareRate }],
          goal: {
            ...(goal.rate && { [goal.rate]: rate }),
            ...(goal.p50 && { [goal.p50]: p50Ms }),
          },
        },
      ),
      rowOf(`${engine}: processor time of a change, ${name}`, milliseconds, cpuMs, {
        beside: ['a bare commit', bareCpuMs],
        ...(goal.cpu && { goal: goal.cpu }),
      }),
    ];
  });
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
