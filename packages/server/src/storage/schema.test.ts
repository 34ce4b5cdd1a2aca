import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import pino from 'pino';
import { StorageError } from '../domain/errors.ts';
import { ChainRunner } from '../nouns/audit-chain/chain-runner.ts';
import { verifyAudit } from '../nouns/audit-chain/verification.ts';
import { storeReport } from '../nouns/code-references/code-reference-table.ts';
import type { AuditFilter } from '../nouns/history/audit-search-query.ts';
import { insertDelivery } from '../nouns/webhooks/delivery-table.ts';
import { insertWebhook } from '../nouns/webhooks/webhook-table.ts';
import { loadSnapshot } from './change-log.ts';
import { MIGRATIONS } from './migrations.ts';
import { type Migrating, migrate, SCHEMA_VERSION } from './schema.ts';
import { SqlStore } from './store.ts';
import { ENGINES, openTestStore, type TestEngine } from './test-engines.ts';
import { ADA, auditEntries, readLog, seed } from './test-records.ts';

setDefaultTimeout(60_000);

/** The last version before the migration that rewrites the logs. */
const OLDER = 26;

const ENTRY_COLUMNS = `id, seq, position, actor, ip, note, action, project_id, environment_id, target, before, after, at,
  operation_seq, reference`;

const ROW_COLUMNS = 'seq, change_id, kind, project_id, environment_id, revision, payload, at, actor';

const NUMBERS = 'WITH RECURSIVE numbers (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM numbers WHERE i < 299)';

/** Three entries of each of the changes 1 to 100. */
const OLD_ENTRIES = `${NUMBERS} INSERT INTO audit_log (${ENTRY_COLUMNS})
  SELECT 'id' || (300 - i), 1 + i / 3, i % 3, 'a' || (i % 3), NULL, 'note', 'flag.changed', 'p1', 'e' || (i % 2), 'k' || (i % 3),
    NULL, '{"i":' || i || '}', i, CASE WHEN i > 9 THEN 1 + i / 3 END, CASE WHEN i = 7 THEN 'r' END FROM numbers`;

const OLD_ROWS = `${NUMBERS} INSERT INTO change_log (${ROW_COLUMNS})
  SELECT 1 + i, 'c' || (300 - i), 'flags.changed', 'p1', 'e' || (i % 2), i, '{}', i, 'a' || (i % 3) FROM numbers WHERE i < 100`;

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
    await migrate(database, { upTo: OLDER, onMigrating });
    expect(said).toEqual([]);
    await database.query(OLD_ENTRIES);
    await migrate(database, { onMigrating });
    expect(said).toEqual([{ from: OLDER, to: SCHEMA_VERSION, entries: 300 }]);
  });

  test('a migration leaves the rows of the logs as they were, and changes follow them', async () => {
    await using home = await engine.create();
    const database = await home.connect();
    await migrate(database, { upTo: OLDER });
    for (const statement of [OLD_ENTRIES, OLD_ROWS, 'UPDATE feed SET seq = 100'])
      await database.query(statement);
    const read = async () => [
      await database.query(`SELECT ${ENTRY_COLUMNS} FROM audit_log ORDER BY seq, position`),
      await database.query(`SELECT ${ROW_COLUMNS} FROM change_log ORDER BY seq`),
    ];

    const before = await read();
    await migrate(database);
    expect(await read()).toEqual(before);

    const store = new SqlStore(database);
    const { project } = await seed(store);
    expect((await readLog(database, 99, 10)).map(({ seq }) => seq)).toEqual([100, 101, 102]);
    const seqsOf = async (filter: Partial<AuditFilter>) =>
      (await auditEntries(store, { ...filter, limit: 3 })).map(({ seq }) => seq);
    expect(await seqsOf({ environmentId: 'e1' })).toEqual([100, 100, 99]);
    expect(await seqsOf({ actor: 'a2' })).toEqual([100, 99, 98]);
    expect(await seqsOf({ projectId: 'p1', target: 'k1' })).toEqual([100, 99, 98]);
    expect(await seqsOf({ projectId: project.id })).toEqual([102, 102, 101]);
    await new ChainRunner({
      context: {
        store,
        now: Date.now,
        randomBytes: (length) => crypto.getRandomValues(new Uint8Array(length)),
      },
      log: pino({ level: 'silent' }),
      isReady: () => true,
    }).runOnce();
    expect(await verifyAudit({ store }, {})).toMatchObject({ problems: [], unchained: 0 });
  });

  test('a current schema is left as it is, data and history included', async () => {
    await using home = await openTestStore(engine);
    await seed(home.store);
    const before = await loadSnapshot(home.database);
    expect(await migrate(await home.connect())).toBeUndefined();
    expect(await loadSnapshot(home.database)).toEqual(before);
  });

  test('a program that does not know webhooks and reports about code can delete a project that has some', async () => {
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
    const report = { repository: 'r', commit: 'c', reportedAt: 0, reportedBy: 'token:ci' };
    const flags = [{ key: 'k', places: 1, files: 1, first: [{ path: 'a.ts', line: 1 }] }];
    await home.store.unlogged((tx) => storeReport(tx, project.id, { report, flags }));
    // What version 0.1.0 does.
    for (const table of ['flag_states', 'environments', 'flags', 'project_keys'])
      await home.database.query(`DELETE FROM ${table} WHERE project_id = $1`, [project.id]);
    await home.database.query('DELETE FROM projects WHERE id = $1', [project.id]);
    for (const table of ['webhooks', 'webhook_deliveries', 'code_reports', 'code_references'])
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
