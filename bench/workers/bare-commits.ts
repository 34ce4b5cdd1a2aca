import { Database } from 'bun:sqlite';
import { serveCommands } from '../worker-commands.ts';

/** Where to commit: a PostgreSQL, or a file that does not exist yet. */
export interface CommitPlan {
  readonly place: { readonly postgres: string } | { readonly sqlite: string };
  /** Connections that commit side by side. SQLite has one writer, however many ask. */
  readonly writers: number;
  readonly seconds: number;
}

/** How far it came, and the processor time of this process. */
export interface CommitResult {
  readonly commits: number;
  readonly seconds: number;
  readonly cpuMs: number;
}

/** The commands of this worker. */
export type BareCommitCommands = { run(plan: CommitPlan): Promise<CommitResult> };

serveCommands({ run } satisfies BareCommitCommands);

/** Durable commits of one row each and nothing else: the most changes that the engine itself can keep. */
async function run({ place, writers, seconds }: CommitPlan): Promise<CommitResult> {
  return 'sqlite' in place
    ? await commitOnSqlite(place.sqlite, seconds)
    : await commitOnPostgres(place.postgres, writers, seconds);
}

async function commitOnSqlite(path: string, seconds: number): Promise<CommitResult> {
  using database = new Database(path);
  database.run('PRAGMA journal_mode = WAL');
  database.run('PRAGMA synchronous = FULL');
  database.run('CREATE TABLE IF NOT EXISTS t (n BIGINT)');
  const insert = database.prepare('INSERT INTO t VALUES (?)');
  return await measured(seconds, 1, async (n) => void insert.run(n));
}

async function commitOnPostgres(url: string, writers: number, seconds: number): Promise<CommitResult> {
  const client = new Bun.SQL(url, { max: writers });
  try {
    await client`CREATE TABLE IF NOT EXISTS t (n BIGINT)`;
    await Promise.all(Array.from({ length: writers }, (_, n) => client`INSERT INTO t VALUES (${n})`));
    return await measured(seconds, writers, async (n) => void (await client`INSERT INTO t VALUES (${n})`));
  } finally {
    await client.close();
  }
}

async function measured(
  seconds: number,
  writers: number,
  commit: (n: number) => Promise<void>,
): Promise<CommitResult> {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const end = start + seconds * 1000;
  let commits = 0;
  const write = async (): Promise<void> => {
    while (performance.now() < end) await commit(++commits);
  };
  await Promise.all(Array.from({ length: writers }, write));
  const { user, system } = process.cpuUsage(cpu);
  return { commits, seconds: (performance.now() - start) / 1000, cpuMs: (user + system) / 1000 };
}
