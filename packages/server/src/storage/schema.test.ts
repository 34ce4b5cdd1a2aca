import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { StorageError } from '../domain/errors.ts';
import { insertDelivery } from '../nouns/webhooks/delivery-table.ts';
import { insertWebhook } from '../nouns/webhooks/webhook-table.ts';
import { loadSnapshot } from './change-log.ts';
import { MIGRATIONS } from './migrations.ts';
import { type Migrating, migrate, SCHEMA_VERSION } from './schema.ts';
import { ENGINES, openTestStore, type TestEngine } from './test-engines.ts';
import { ADA, seed } from './test-records.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('the schema on $name', (engine: TestEngine) => {
  test('five nodes that start together migrate once and agree on the history', async () => {
    await using home = await engine.create();
    const databases = await Promise.all(Array.from({ length: 5 }, () => home.connect()));
    const migrated = await Promise.all(databases.map((database) => migrate(database)));
    expect(migrated.filter((each) => each !== undefined)).toEqual([{ from: 0, to: SCHEMA_VERSION }]);
    const snapshots = await Promise.all(databases.map(loadSnapshot));
    expect(new Set(snapshots.map((snapshot) => snapshot.cursor.epoch)).size).toBe(1);
    const [first] = databases;
    expect(await first?.query('SELECT version FROM halyard_schema')).toEqual(
      MIGRATIONS.map((_, index) => ({ version: index + 1 })),
    );
  });

  test('a migration says what it has before it, and a new database has nothing', async () => {
    await using home = await engine.create();
    const database = await home.connect();
    const said: Migrating[] = [];
    const onMigrating = (migrating: Migrating) => said.push(migrating);
    const before = SCHEMA_VERSION - 1;
    await migrate(database, { upTo: before, onMigrating });
    expect(said).toEqual([]);
    await migrate(database, { onMigrating });
    expect(said).toEqual([{ from: before, to: SCHEMA_VERSION, entries: 0 }]);
  });

  test('a current schema is left as it is, data and history included', async () => {
    await using home = await openTestStore(engine);
    await seed(home.store);
    const before = await loadSnapshot(home.database);
    expect(await migrate(await home.connect())).toBeUndefined();
    expect(await loadSnapshot(home.database)).toEqual(before);
  });

  test('a program that does not know webhooks can delete a project that has some', async () => {
    await using home = await openTestStore(engine);
    const { project } = await seed(home.store);
    const settings = {
      url: 'https://receiver.example/',
      format: 'json',
      environments: [],
      events: [],
    } as const;
    const webhook = { ...settings, id: 'w', projectId: project.id, name: 'w', createdAt: 0 };
    await home.store.commit(ADA, (tx) => insertWebhook(tx, webhook, 'secret'));
    const attempt = { messageId: 'm', trigger: 'test', outcome: 'delivered', at: 0, durationMs: 1 } as const;
    expect(await home.store.unlogged((tx) => insertDelivery(tx, 'w', attempt))).toMatchObject({ number: 1 });
    // What version 0.1.0 does.
    for (const table of ['flag_states', 'environments', 'flags', 'project_keys'])
      await home.database.query(`DELETE FROM ${table} WHERE project_id = $1`, [project.id]);
    await home.database.query('DELETE FROM projects WHERE id = $1', [project.id]);
    for (const table of ['webhooks', 'webhook_deliveries'])
      expect(await home.database.query(`SELECT * FROM ${table}`)).toEqual([]);
  });

  test('rejects the schema of a newer program, and explains what to do', async () => {
    await using home = await openTestStore(engine);
    await home.database.transaction((transaction) =>
      transaction.query('INSERT INTO halyard_schema (version, applied_at) VALUES ($1, 0)', [
        SCHEMA_VERSION + 1,
      ]),
    );
    const attempt = migrate(await home.connect());
    await expect(attempt).rejects.toBeInstanceOf(StorageError);
    await expect(attempt).rejects.toThrow(/newer Halyard.*Start that version/);
  });

  test('a failed migration leaves nothing behind', async () => {
    await using home = await engine.create();
    const database = await home.connect();
    await database.transaction((transaction) => transaction.query('CREATE TABLE audit_log (mine TEXT)'));
    await expect(migrate(database)).rejects.toThrow(/already exists/);
    await expect(database.query('SELECT * FROM halyard_schema')).rejects.toThrow(/halyard_schema/);
  });
});
