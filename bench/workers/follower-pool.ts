import type { LogSource } from '../../packages/server/src/domain/change-log.ts';
import { Catalog } from '../../packages/server/src/evaluation/catalog/catalog.ts';
import { RemoteLog } from '../../packages/server/src/evaluation/log/remote-log.ts';
import { Follower } from '../../packages/server/src/evaluation/replication/follower.ts';
import { logSourceOf } from '../../packages/server/src/storage/change-log.ts';
import type { OpenDatabase } from '../../packages/server/src/storage/database.ts';
import { openPostgres } from '../../packages/server/src/storage/engines/postgres.ts';
import { serveCommands } from '../worker-commands.ts';

/** What to follow: a database, or with a relay token a node. */
export interface FollowerSource {
  readonly url: string;
  readonly token?: string;
}

/** Which followers to start. */
export interface FollowerPlan extends FollowerSource {
  readonly count: number;
}

/** What happened to the followers since the last question. Times are epoch milliseconds with fractions. */
export interface FollowerReport {
  /** When each follower had applied a row, by its `seq`. */
  readonly applied: Readonly<Record<number, readonly number[]>>;
  /** When followers lost the log, and when they followed it again. */
  readonly lost: readonly number[];
  readonly live: readonly number[];
  readonly failedAttempts: number;
}

/** The commands of this worker. */
export type FollowerCommands = {
  /** Resolves once all of them follow the log. */
  start(plan: FollowerPlan): Promise<null>;
  /** How many follow the log now. */
  count(argument: null): number;
  take(argument: null): FollowerReport;
  close(argument: null): Promise<null>;
};

serveCommands({ start, count, take, close } satisfies FollowerCommands);

const followers: Follower[] = [];
const databases: OpenDatabase[] = [];
let applied: Record<number, number[]> = {};
let lost: number[] = [];
let live: number[] = [];
let failedAttempts = 0;

async function start({ count: wanted, ...source }: FollowerPlan): Promise<null> {
  // A node has one database and one follower each; only their HTTP is left out.
  await Promise.all(Array.from({ length: wanted }, () => startOne(source)));
  return null;
}

async function openSource({ url, token }: FollowerSource): Promise<LogSource> {
  if (token !== undefined) return new RemoteLog({ url, token });
  const database = await openPostgres({ url, poolSize: 1 });
  databases.push(database);
  return logSourceOf(database);
}

async function startOne(from: FollowerSource): Promise<void> {
  const source = await openSource(from);
  const catalog = new Catalog({
    changed: () => {},
    environmentGone: () => {},
    keyGone: () => {},
    malformed: () => {},
  });

  const isLive = Promise.withResolvers<void>();
  const follower = new Follower({
    source,
    catalog,
    callbacks: {
      live: () => {
        live.push(now());
        isLive.resolve();
      },
      lost: () => lost.push(now()),
      stillLost: () => {
        failedAttempts += 1;
      },
      applied: ({ seq }) => {
        applied[seq] ??= [];
        applied[seq].push(now());
      },
    },
  });

  followers.push(follower);
  void follower.run();
  await isLive.promise;
}

function count(): number {
  return followers.filter((follower) => follower.isLive).length;
}

function take(): FollowerReport {
  const report = { applied, lost, live, failedAttempts };
  applied = {};
  lost = [];
  live = [];
  failedAttempts = 0;
  return report;
}

async function close(): Promise<null> {
  for (const follower of followers.splice(0)) follower.close();
  await Promise.all(databases.splice(0).map((database) => database.close()));
  return null;
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
