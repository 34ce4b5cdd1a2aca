import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { LogSource } from '../domain/change-log.ts';
import { ReadOnlyDatabaseError } from '../domain/errors.ts';
import { logSourceOf } from '../storage/change-log.ts';
import type { Database } from '../storage/database.ts';
import { PrimaryBeat } from '../storage/primary-beat.ts';
import { type Migrated, type Migrating, openDatabase } from '../storage/schema.ts';
import { LazyDatabase } from '../storage/store.ts';
import { logMigrating, logMigration } from './first-start.ts';

/** Said where it is found out, and nowhere else: what was lost is in no table. */
const LOSS =
  'the database has lost changes that were served: it was restored, or failed over without them; a new epoch begins';

/** The databases of a node, opened when they are first used. */
export interface Databases {
  /** Takes the writes. */
  readonly database: Database;
  /** The log that the node follows. */
  readonly source: LogSource;
  /** Why the database refuses writes; `undefined` while it takes them. */
  readonly writeRefusal: () => string | undefined;
  /** Closes all of them. Safe to call twice. */
  readonly close: () => Promise<unknown>;
}

/** The databases that the settings name. */
export function databasesOf(config: Config, log: Logger): Databases {
  const onMigrated = (migrated: Migrated) => logMigration(log, migrated);
  const onMigrating = (migrating: Migrating) => logMigrating(log, migrating);
  const onRefusal = (reason: string | undefined) =>
    reason === undefined
      ? log.info('the database takes changes again')
      : log.error({ reason }, 'the database takes no changes');
  const database = new LazyDatabase(() => openDatabase({ ...config, onMigrating, onMigrated }), onRefusal);
  const followed = followedDatabase(config, database);
  const source = logSourceOf(followed, { primary: database, onEpoch: ({ seq }) => log.error({ seq }, LOSS) });
  const beat = config.databaseUrl === undefined ? undefined : new PrimaryBeat(database);
  const close = () => {
    beat?.close();
    return Promise.all([followed.close(), database.close()]);
  };
  const writeRefusal = () => database.refusal.reason;
  return { database, source, writeRefusal, close };
}

/** The database whose log is followed: that of the writes, unless a setting names another connection or a standby. */
function followedDatabase(config: Config, primary: Database): Database {
  const { databaseFollowUrl: databaseUrl } = config;
  if (databaseUrl === undefined) return primary;
  return new LazyDatabase(async () => {
    try {
      return await openDatabase({ ...config, databaseUrl, databasePoolSize: 1 });
    } catch (error) {
      // A standby waits until its primary has been migrated, which the first use of the primary does.
      if (error instanceof ReadOnlyDatabaseError) await primary.query('SELECT 1');
      throw error;
    }
  });
}
