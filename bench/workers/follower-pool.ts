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

/** One follower has applied a row, in epoch milliseconds with fractions. */
export interface Applied {
  readonly seq: number;
  readonly at: number;
}

const commands = { start, take, close };
/** The commands of this worker. */
export type FollowerCommands = typeof commands;

serveCommands(commands);

const followers: Follower[] = [];
const databases: OpenDatabase[] = [];
let report = nothing();

function nothing() {
  return { applied: [] as Applied[], lost: [] as number[], live: [] as number[], failedAttempts: 0 };
}

/** Resolves once all of them follow the log. */
async function start({ count, ...source }: FollowerSource & { count: number }): Promise<void> {
  // A node has one database and one follower each; only their HTTP is left out.
  await Promise.all(Array.from({ length: count }, () => startOne(source)));
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
        report.live.push(now());
        isLive.resolve();
      },
      lost: () => report.lost.push(now()),
      stillLost: () => {
        report.failedAttempts += 1;
      },
      applied: ({ seq }) => report.applied.push({ seq, at: now() }),
    },
  });

  followers.push(follower);
  void follower.run();
  await isLive.promise;
}

/** What happened since the last question: rows applied, when followers lost the log and followed it again. */
function take() {
  const taken = report;
  report = nothing();
  return taken;
}

async function close(): Promise<void> {
  for (const follower of followers.splice(0)) follower.close();
  await Promise.all(databases.splice(0).map((database) => database.close()));
}

function now(): number {
  return performance.timeOrigin + performance.now();
}
