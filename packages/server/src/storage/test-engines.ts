import { copyFileSync } from 'node:fs';
import { sharedPostgres, temporaryFolder } from '@halyard/testing';
import { epochAfter } from '../domain/epoch.ts';
import type { Database, OpenDatabase } from './database.ts';
import { openPostgres } from './engines/postgres.ts';
import { openSqlite } from './engines/sqlite.ts';
import { migrate } from './schema.ts';
import { SqlStore } from './store.ts';

/** An empty place of an engine where tests keep data. Disposing of it closes every connection to it. */
export interface TestPlace extends AsyncDisposable {
  /** The file, or the URL of the database. */
  readonly address: string;
  /** Opens the place once more, as another node would. */
  connect(): Promise<OpenDatabase>;
}

/** An engine that the common tests run over. */
export interface TestEngine {
  readonly name: OpenDatabase['engine'];
  /** Makes an empty place, or a copy of another one that has no connections. */
  create(template?: string): Promise<TestPlace>;
}

/** Both engines: everything is tested on each. */
export const ENGINES: readonly TestEngine[] = [
  {
    name: 'sqlite',
    create: async (template) => {
      const folder = temporaryFolder();
      const path = folder.file('halyard.db');
      if (template !== undefined) copyFileSync(template, path);
      return place(
        path,
        () => openSqlite({ path }),
        async () => folder.remove(),
      );
    },
  },
  {
    name: 'postgres',
    create: async (template) => {
      const url = await (await sharedPostgres()).createDatabase(template);
      return place(
        url,
        () => openPostgres({ url, poolSize: 4 }),
        async () => {},
      );
    },
  },
];

/** A place with the current schema, a connection to it and the store over that. */
export interface TestStore extends TestPlace {
  readonly database: OpenDatabase;
  readonly store: SqlStore;
}

/** Makes a new place of the engine, ready for use. */
export async function openTestStore(engine: TestEngine): Promise<TestStore> {
  const home = await engine.create(await migratedPlace(engine.name));
  const database = await home.connect();
  // All copies have the epoch of their template, and places of their own must not.
  await beginEpoch(database);
  return { ...home, database, store: new SqlStore(database) };
}

const migratedPlaces = new Map<TestEngine['name'], Promise<string>>();

/** The address of a place with the current schema, to be copied: migrating takes longer than most tests. */
export function migratedPlace(name: TestEngine['name']): Promise<string> {
  const known = migratedPlaces.get(name);
  if (known !== undefined) return known;

  const migrated = migrateAnew(name).catch((error: unknown) => {
    // As with the shared PostgreSQL: the next test tries again.
    migratedPlaces.delete(name);
    throw error;
  });
  migratedPlaces.set(name, migrated);
  return migrated;
}

async function migrateAnew(name: TestEngine['name']): Promise<string> {
  const engine = ENGINES.find((each) => each.name === name);
  if (engine === undefined) throw new Error(`there is no engine ${name}`);
  const home = await engine.create();
  const database = await home.connect();
  await migrate(database);
  await database.close();
  return home.address;
}

function place(address: string, open: () => Promise<OpenDatabase>, remove: () => Promise<void>): TestPlace {
  const opened: OpenDatabase[] = [];
  return {
    address,
    connect: async () => {
      const database = await open();
      opened.push(database);
      return database;
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(opened.map((database) => database.close()));
      await remove();
    },
  };
}

/** Begins a new history, as a restored backup does. Returns its epoch. */
export async function beginEpoch(database: OpenDatabase): Promise<string> {
  const [feed] = await database.query<{ epoch: string }>('SELECT epoch FROM feed');
  const epoch = epochAfter(feed === undefined ? [] : [feed.epoch]);
  await database.query('UPDATE feed SET epoch = $1 WHERE id = 1', [epoch]);
  return epoch;
}

/** Takes the newest rows of the log back, as a failover to a standby that did not have them, or an old backup. */
export async function loseRows(database: OpenDatabase, count: number): Promise<void> {
  await database.query('UPDATE feed SET seq = seq - $1 WHERE id = 1', [count]);
  await database.query('DELETE FROM change_log WHERE seq > (SELECT seq FROM feed)');
  await database.query(`UPDATE environments SET revision = coalesce(
    (SELECT max(revision) FROM change_log WHERE environment_id = environments.id), 0)`);
}

/** The same database, with another way to run transactions. */
export function withTransactions(database: Database, transaction: Database['transaction']): Database {
  return {
    query: (text, parameters) => database.query(text, parameters),
    snapshot: (work) => database.snapshot(work),
    yieldTo: (work) => database.yieldTo(work),
    openLogSession: () => database.openLogSession(),
    announce: (committed) => database.announce(committed),
    close: () => database.close(),
    transaction,
  };
}
