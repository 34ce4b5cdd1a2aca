import { Database } from 'bun:sqlite';
import { serveCommands } from '../worker-commands.ts';

/** A PostgreSQL, or a file that does not exist yet. */
export type CommitPlace = { readonly postgres: string } | { readonly sqlite: string };

/** Where to commit, and for how long. */
interface CommitPlan {
  readonly place: CommitPlace;
  /** Connections that commit side by side. SQLite has one writer, however many ask. */
  readonly writers: number;
  readonly seconds: number;
}

/** How many commits, and how long before each. */
interface TimesPlan {
  readonly place: CommitPlace;
  readonly count: number;
  /** Default: none. */
  readonly pauseMs?: number;
}

const commands = { run, times };
/** The commands of this worker. */
export type BareCommitCommands = typeof commands;

serveCommands(commands);

/** Durable commits of one row each and nothing else: the most changes that the engine itself can keep. */
async function open(place: CommitPlace, writers: number) {
  if ('sqlite' in place) {
    const database = new Database(place.sqlite);
    database.run('PRAGMA journal_mode = WAL');
    database.run('PRAGMA synchronous = FULL');
    database.run('CREATE TABLE IF NOT EXISTS t (n BIGINT)');
    const insert = database.prepare('INSERT INTO t VALUES (?)');
    return {
      commit: async (n: number) => void insert.run(n),
      [Symbol.asyncDispose]: async () => database.close(),
    };
  }

  const client = new Bun.SQL(place.postgres, { max: writers });
  const commit = async (n: number) => void (await client`INSERT INTO t VALUES (${n})`);
  await client`CREATE TABLE IF NOT EXISTS t (n BIGINT)`;
  await Promise.all(Array.from({ length: writers }, (_, n) => commit(n)));
  return { commit, [Symbol.asyncDispose]: () => client.close() };
}

/** Commits until the time is over. Returns how many, and the processor time of this process. */
async function run({ place, writers, seconds }: CommitPlan) {
  const side = 'sqlite' in place ? 1 : writers;
  await using bare = await open(place, side);
  const cpu = process.cpuUsage();
  const start = performance.now();
  const end = start + seconds * 1000;
  let commits = 0;
  const write = async (): Promise<void> => {
    while (performance.now() < end) await bare.commit(++commits);
  };
  await Promise.all(Array.from({ length: side }, write));
  const { user, system } = process.cpuUsage(cpu);
  return { commits, seconds: (performance.now() - start) / 1000, cpuMs: (user + system) / 1000 };
}

/** The milliseconds of each of so many commits, one after another, each after a pause. */
async function times({ place, count, pauseMs = 0 }: TimesPlan): Promise<number[]> {
  await using bare = await open(place, 1);
  const took: number[] = [];
  // The first tenth warms up.
  for (let n = -count / 10; n < count; n++) {
    if (pauseMs > 0) await Bun.sleep(pauseMs);
    const start = performance.now();
    await bare.commit(n);
    if (n >= 0) took.push(performance.now() - start);
  }
  return took;
}
