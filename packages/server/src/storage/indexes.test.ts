import { expect, setDefaultTimeout, test } from 'bun:test';
import { readTokenCreations } from '../nouns/access-tokens/creators-query.ts';
import { readAllArchivedStates, readFlags } from '../nouns/flags/flag-table.ts';
import { readAuditPage, readOperation, readOperationsUnder } from '../nouns/history/audit-query.ts';
import type { AuditFilter } from '../nouns/history/audit-search-query.ts';
import { readChangedPlaces } from '../nouns/history/changed-query.ts';
import { readFollowing } from '../nouns/history/follow-query.ts';
import { readKeys } from '../nouns/keys/key-table.ts';
import { readKeysBy } from '../nouns/people/holdings-query.ts';
import { readOperatorByIdentity } from '../nouns/people/operator-table.ts';
import { readSessionsOf } from '../nouns/people/session-table.ts';
import { readFigures } from '../nouns/projects/overview-query.ts';
import { countOpen, readNextToExpire } from '../nouns/proposals/proposal-table.ts';
import { readNextPlans, readPlans } from '../nouns/rollouts/rollout-table.ts';
import { readNextSchedules, readSchedules } from '../nouns/schedules/schedule-table.ts';
import { readStatesIn, readStoredStates } from '../nouns/states/state-table.ts';
import { SqlUsageStore } from '../nouns/usage/usage-table.ts';
import { readMessage } from '../nouns/webhooks/message-query.ts';
import type { Database, OpenDatabase, Queryable } from './database.ts';
import { repeatedAfter } from './newest-stretch.ts';
import { ENGINES, openTestStore, withTransactions } from './test-engines.ts';

setDefaultTimeout(60_000);

/** A read of the product that one index makes cheap. */
type Served = (db: Database) => Promise<unknown>;

const page = { limit: 10 } as const;
const history = (filter: Partial<AuditFilter>): Served => {
  return (db) => readAuditPage(db, { ...filter, ...page });
};
const pageOfFlags: Served = (db) => readFlags(db, 'p1', { ...page, after: ['k500'] });
const pageOfStates: Served = (db) => readStoredStates(db, 'e1', { ...page, after: ['k500'] });

/** What each index is for: one without such a read only makes changes dearer. */
const SERVED: Readonly<Record<string, Served | readonly Served[]>> = {
  audit_log_by_seq: (db) => readFollowing(db, { seq: 900, position: 0 }, { ...page, withoutPeople: false }),
  audit_log_by_seldom_action: [
    history({ action: 'environment.deleted' }),
    (db) => readAllArchivedStates(db, 'p1'),
    (db) => readKeysBy(db, ['a1'], 0),
    readTokenCreations,
  ],
  audit_log_by_project: history({ projectId: 'p1' }),
  audit_log_by_target: history({ projectId: 'p1', target: 'k1' }),
  audit_log_by_environment: history({ environmentId: 'e1' }),
  audit_log_by_actor: history({ actor: 'a1' }),
  audit_log_by_long_operation: [
    (db) => readOperation(db, 500),
    (db) => readChangedPlaces(db, [500], 'operation'),
    (db) => readMessage(db, { projectId: 'p1', environments: [], events: [] }, 500),
  ],
  audit_log_by_reference: (db) => readOperationsUnder(db, { actor: 'a1', reference: 'r1' }),
  flag_states_by_flag: (db) => readStatesIn(db, 'p1', ['k1']),
  flag_usage_by_hour: (db) => new SqlUsageStore(db).prune(1_790_000_000_000),
  operators_by_identity: (db) => readOperatorByIdentity(db, { issuer: 'i1', subject: 's1' }),
  project_keys_by_name: (db) => readKeys(db, 'p1', { ...page, after: ['n500', ''] }),
  proposals_by_expiry: (db) => readNextToExpire(db, 10),
  proposals_by_project: (db) => countOpen(db, 'p1'),
  rollout_plans_by_due: (db) => readNextPlans(db, 10),
  rollout_plans_by_project: (db) => readPlans(db, { projectId: 'p1', ended: 10 }),
  scheduled_changes_by_project: (db) => readSchedules(db, { projectId: 'p1', settled: 10 }),
  scheduled_changes_by_status: (db) => readNextSchedules(db, 10),
  sessions_by_operator: (db) => readSessionsOf(db, { id: 'o1' }),
  stream_presence_by_environment: (db) =>
    readFigures(db, [{ id: 'p1', name: 'p1', createdAt: 0 }], 1_790_000_000_000),
};

/** What only one engine has an index for. On SQLite, the keys of the tables have the order of pages. */
const SERVED_BY_ONE: Readonly<Record<OpenDatabase['engine'], Readonly<Record<string, Served>>>> = {
  sqlite: { sqlite_autoindex_flags_1: pageOfFlags, sqlite_autoindex_flag_states_1: pageOfStates },
  postgres: { flags_by_key: pageOfFlags, flag_states_by_key: pageOfStates },
};

/** Indexes that are rules: what they refuse is why they are there. */
const RULES = ['webhooks_of_installation'];

/** The indexes that migrations make by name. */
const NAMED_INDEXES: Readonly<Record<OpenDatabase['engine'], string>> = {
  sqlite: `SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`,
  postgres: `SELECT relname AS name FROM pg_class JOIN pg_index ON indexrelid = oid
    WHERE relnamespace = current_schema()::regnamespace AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conindid = indexrelid)`,
};

/** Rows for the planner: the columns of each table, and their SQL, where `i` counts. */
const ROWS: Readonly<Record<string, string>> = {
  'projects (id, name, created_at)': `'p' || i, 'p' || i, 0`,
  'environments (id, project_id, name, revision, created_at)': `'e' || i, 'p' || (i % 500 + 1), 'e' || i, 0, 0`,
  'flags (project_id, key, description, tags, created_at)': `'p' || (i % 2 + 1), 'k' || i, '', '[]', 0`,
  'flag_states (environment_id, flag_key, project_id, state, revision, updated_at)': `'e' || (i % 2 + 1), 'k' || i, 'p' || (i % 2 + 1), '{}', 0, 0`,
  'project_keys (id, project_id, name, digest, last_four, environments, created_at)': `'i' || i, 'p' || (i % 2 + 1), 'n' || i, 'd' || i, '', '[]', 0`,
  [`audit_log (id, seq, position, actor, action, project_id, environment_id, target, at, operation_seq, reference,
      repeated)`]: `'i' || i, i, 0, 'a' || (i % 50), 'flag.a' || (i % 50), 'p' || (i % 50), 'e' || (i % 50), 'k' || (i % 100), i, i + i % 2, 'r' || i,
      CASE WHEN i % 64 >= 50 THEN 1 END`,
  'operators (id, email, name, password_hash, role, can_change_protected, created_at, sso_issuer, sso_subject)': `'o' || i, 'o' || i, '', '', 'admin', 0, 0, 'i1', 's' || i`,
  'sessions (digest, operator_id, created_at, last_used_at)': `'d' || i, 'o' || i, 0, 0`,
  'scheduled_changes (id, project_id, environment_id, changes, due_at, created_by, created_at, status)': `'i' || i, 'p' || (i % 50), 'e1', '[]', i, 'a', 0, CASE WHEN i % 50 = 0 THEN 'pending' ELSE 'done' END`,
  'stream_presence (node_id, environment_id, key_id, streams, seen_at)': `'n' || i, 'e' || i, '', 1, 0`,
  'flag_usage (environment_id, flag_key, hour, outcome, reads)': `'e1', 'k' || i, i, 'true', 1`,
  [`rollout_plans (id, project_id, environment_id, flag_key, steps, created_by, created_at, from_pct, runs_as,
      runs_since, due_at, status, status_at, status_by, next_step, ran)`]: `'i' || i, 'p' || (i % 50), 'e1', 'k' || i, '[]', 'a', 0, '0', 'a',
      0, i, CASE WHEN i % 50 = 0 THEN 'running' ELSE 'done' END, i, 'a', 0, '[]'`,
  [`proposals (id, project_id, environments, operation, request, effects, author, required, hold, approvals,
      created_at, expires_at, status, settled_at)`]: `'i' || i, 'p' || (i % 50 + 1), '[]', '', '{}', '[]', 'a', 1, 0, '[]',
      0, i, CASE WHEN i % 50 = 0 THEN 'open' ELSE 'applied' END, CASE WHEN i % 50 = 0 THEN NULL ELSE i END`,
};

async function fill(db: Queryable): Promise<void> {
  for (const [table, values] of Object.entries(ROWS))
    await db.query(`WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < 2000)
      INSERT INTO ${table} SELECT ${values} FROM numbers`);
  await db.query('ANALYZE');
}

const EXPLAIN = { sqlite: 'EXPLAIN QUERY PLAN', postgres: 'EXPLAIN' } as const;

/** The database, which notes how it runs each read outside a transaction. */
function explaining(database: OpenDatabase, plans: string[]): Database {
  return {
    ...withTransactions(database, (work) => database.transaction(work)),
    query: async (text, parameters) => {
      plans.push(JSON.stringify(await database.query(`${EXPLAIN[database.engine]} ${text}`, parameters)));
      return database.query(text, parameters);
    },
  };
}

test.each(ENGINES)('on $name, each index serves a read, which uses it', async (engine) => {
  await using home = await openTestStore(engine);
  const { database } = home;
  const names = (await database.query<{ name: string }>(NAMED_INDEXES[engine.name])).map(({ name }) => name);
  const served = { ...SERVED, ...SERVED_BY_ONE[engine.name] };
  const expected = [...Object.keys(served), ...RULES].filter((name) => !name.startsWith('sqlite_autoindex'));
  expect(names.sort()).toEqual(expected.sort());

  await fill(database);
  const unused: Record<string, readonly string[]> = {};
  const reads = Object.entries(served).flatMap(([name, own]) => [own].flat().map((read) => ({ name, read })));
  for (const { name, read } of reads) {
    const plans: string[] = [];
    await read(explaining(database, plans));
    if (!plans.some((plan) => new RegExp(`\\b${name}\\b`).test(plan))) unused[`${name}: ${read}`] = plans;
  }
  expect(unused).toEqual({});
});

test.each(ENGINES)('on $name, an entry looks for the one before it, and reads no other', async (engine) => {
  await using home = await openTestStore(engine);
  const given = (name: string) => `given.${name}`;
  const repeated = repeatedAfter(given('known'), {
    seq: given('seq'),
    environment: given('environment'),
    actor: given('actor'),
  });
  const rows = Array.from(
    { length: 32 },
    (_, i) => `SELECT ${i} AS known, 40 AS seq, 'e' AS environment, 'a' AS actor`,
  );
  const text = `SELECT ${repeated} FROM (${rows.join(' UNION ALL ')}) AS given`;

  // Of a log that was never analyzed, as a new one is.
  const explain = { sqlite: 'EXPLAIN QUERY PLAN', postgres: 'EXPLAIN VERBOSE' }[engine.name];
  const plan = JSON.stringify(await home.database.query(`${explain} ${text}`));
  expect(plan).toMatch(/SEARCH audit_log USING INDEX|Index Cond: .*audit_log.seq = /);
  expect(plan).not.toContain('hashed');
});
