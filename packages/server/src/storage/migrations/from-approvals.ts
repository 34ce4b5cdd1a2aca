import { type MigrationStep, sqlite } from './step.ts';

/** The steps from 17 on: approvals, reasons, own tokens, the chain of the audit log and its webhooks. The next one is added here. */
export const STEPS_FROM_APPROVALS: readonly MigrationStep[] = [
  [
    // How many people approve a change of states before it is made. A node that does not know approvals writes a revision
    // without "guarded", which the check refuses.
    'ALTER TABLE environments ADD COLUMN approvals BIGINT NOT NULL DEFAULT 0',
    'ALTER TABLE environments ADD COLUMN emergency_off BIGINT NOT NULL DEFAULT 1',
    `ALTER TABLE environments ADD COLUMN guarded BIGINT NOT NULL DEFAULT 0
      CHECK (approvals = 0 OR (guarded = revision AND deleted_at IS NULL))`,
    // Changes that wait for approval. request and effects: JSON. environments, approvals: JSON lists.
    `CREATE TABLE proposals (
      id TEXT NOT NULL PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id),
      environments TEXT NOT NULL,
      operation TEXT NOT NULL,
      request TEXT NOT NULL,
      effects TEXT NOT NULL,
      author TEXT NOT NULL,
      person TEXT,
      note TEXT,
      required BIGINT NOT NULL,
      hold BIGINT NOT NULL,
      approvals TEXT NOT NULL,
      status TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      settled_at BIGINT,
      settled_by TEXT,
      outcome TEXT
    )`,
    'CREATE INDEX proposals_by_project ON proposals (project_id, status, settled_at)',
    `CREATE INDEX proposals_by_expiry ON proposals (expires_at) WHERE settled_at IS NULL`,
    // The proposal by which they run where approvals are required.
    'ALTER TABLE scheduled_changes ADD COLUMN proposal TEXT',
    'ALTER TABLE rollout_plans ADD COLUMN proposal TEXT',
    // Tokens of reviewed pipelines, whose changes need no approval.
    'ALTER TABLE access_tokens ADD COLUMN exempt BIGINT NOT NULL DEFAULT 0',
  ],

  [
    // The id of the key that was made in place of this one.
    'ALTER TABLE project_keys ADD COLUMN replaced_by TEXT',
  ],

  [
    // Values that people choose from, as a JSON list.
    `ALTER TABLE flags ADD COLUMN named_values TEXT NOT NULL DEFAULT '[]'`,
  ],

  [
    // Whether every change of states needs a reason. A node that does not know that is refused as one that does not know approvals.
    `ALTER TABLE environments ADD COLUMN reason_required BIGINT NOT NULL DEFAULT 0
      CHECK (reason_required = 0 OR (guarded = revision AND deleted_at IS NULL))`,
  ],

  [
    // Attempts of webhooks in each of the last hours. hour: since 1970.
    `CREATE TABLE webhook_hours (
      webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
      hour BIGINT NOT NULL,
      delivered BIGINT NOT NULL,
      failed BIGINT NOT NULL,
      PRIMARY KEY (webhook_id, hour)
    )`,
  ],

  [
    // The person to whom a token belongs, by id. NULL: it belongs to the installation.
    'ALTER TABLE access_tokens ADD COLUMN owner TEXT',
    // Until when what the identity provider said of a person counts. NULL: no provider vouches for them. The sign-ins before
    // this version are not known, but no session lasted for more than seven days.
    'ALTER TABLE operators ADD COLUMN vouched_until BIGINT',
    `UPDATE operators SET vouched_until = COALESCE(last_seen_at, created_at) + 2592000000
      WHERE sso_issuer IS NOT NULL`,
  ],

  [
    // The chain over the audit log: each block has the hashes of some entries, and its own covers that of the block before it.
    // entries, commitments: JSON lists. salt: NULL once the personal data in the entries is removed.
    `CREATE TABLE audit_blocks (
      number BIGINT NOT NULL PRIMARY KEY,
      last_seq BIGINT NOT NULL,
      last_position BIGINT NOT NULL,
      newest_at BIGINT NOT NULL,
      chained_at BIGINT NOT NULL,
      hash TEXT NOT NULL,
      salt TEXT,
      entries TEXT NOT NULL,
      commitments TEXT
    )`,
  ],

  [
    // Webhooks of the whole installation have no project. A column cannot lose its NOT NULL on SQLite, so the tables are made
    // again, those that refer to them as well.
    `CREATE TABLE webhooks_2 (
      id TEXT NOT NULL PRIMARY KEY,
      project_id TEXT REFERENCES projects (id) ON DELETE CASCADE,
      name TEXT NOT NULL,
      url TEXT NOT NULL,
      format TEXT NOT NULL,
      environments TEXT NOT NULL,
      events TEXT NOT NULL,
      secret TEXT NOT NULL,
      previous_secret TEXT,
      previous_secret_until BIGINT,
      status TEXT NOT NULL,
      reason TEXT,
      position BIGINT NOT NULL,
      deliveries BIGINT NOT NULL,
      given_up BIGINT NOT NULL,
      failures BIGINT NOT NULL,
      failing_since BIGINT,
      next_attempt_at BIGINT,
      leased_by TEXT,
      leased_until BIGINT,
      created_at BIGINT NOT NULL,
      UNIQUE (project_id, name)
    )`,
    `INSERT INTO webhooks_2 (id, project_id, name, url, format, environments, events, secret, previous_secret, previous_secret_until, status,
        reason, position, deliveries, given_up, failures, failing_since, next_attempt_at, leased_by, leased_until, created_at)
      SELECT id, project_id, name, url, format, environments, events, secret, previous_secret, previous_secret_until, status,
        reason, position, deliveries, given_up, failures, failing_since, next_attempt_at, leased_by, leased_until, created_at FROM webhooks`,
    `CREATE TABLE webhook_deliveries_2 (
      webhook_id TEXT NOT NULL REFERENCES webhooks_2 (id) ON DELETE CASCADE,
      number BIGINT NOT NULL,
      seq BIGINT,
      message_id TEXT NOT NULL,
      cause TEXT NOT NULL,
      outcome TEXT NOT NULL,
      at BIGINT NOT NULL,
      duration_ms BIGINT NOT NULL,
      status BIGINT,
      error TEXT,
      answer TEXT,
      PRIMARY KEY (webhook_id, number)
    )`,
    `INSERT INTO webhook_deliveries_2
        (webhook_id, number, seq, message_id, cause, outcome, at, duration_ms, status, error, answer)
      SELECT webhook_id, number, seq, message_id, cause, outcome, at, duration_ms, status, error, answer
        FROM webhook_deliveries`,
    `CREATE TABLE webhook_hours_2 (
      webhook_id TEXT NOT NULL REFERENCES webhooks_2 (id) ON DELETE CASCADE,
      hour BIGINT NOT NULL,
      delivered BIGINT NOT NULL,
      failed BIGINT NOT NULL,
      PRIMARY KEY (webhook_id, hour)
    )`,
    `INSERT INTO webhook_hours_2 (webhook_id, hour, delivered, failed)
      SELECT webhook_id, hour, delivered, failed FROM webhook_hours`,
    'DROP TABLE webhook_hours',
    'DROP TABLE webhook_deliveries',
    'DROP TABLE webhooks',
    'ALTER TABLE webhooks_2 RENAME TO webhooks',
    'ALTER TABLE webhook_deliveries_2 RENAME TO webhook_deliveries',
    'ALTER TABLE webhook_hours_2 RENAME TO webhook_hours',
    'CREATE UNIQUE INDEX webhooks_of_installation ON webhooks (name) WHERE project_id IS NULL',
  ],

  [
    // SQLite compares bytes in any case: there the primary keys have the same order.
    sqlite('DROP INDEX flags_by_key'),
    sqlite('DROP INDEX flag_states_by_key'),
  ],

  [
    // Most changes are of the state of one flag, which is an operation of one row: they need no place in these two.
    `CREATE INDEX audit_log_by_seldom_action ON audit_log (action, seq) WHERE action <> 'flag.changed'`,
    'DROP INDEX audit_log_by_action',
    'CREATE INDEX audit_log_by_long_operation ON audit_log (operation_seq) WHERE operation_seq <> seq',
    'DROP INDEX audit_log_by_operation',
  ],

  [
    // A change writes each index, so SQLite keeps the log in the order of its numbers, without keys of texts that nothing reads by.
    // There, one lock numbers the changes; PostgreSQL keeps those keys, which refuse a number or an id that is used twice.
    sqlite(`CREATE TABLE change_log_2 (
      seq INTEGER NOT NULL PRIMARY KEY,
      change_id TEXT NOT NULL,
      kind TEXT NOT NULL,
      project_id TEXT NOT NULL,
      environment_id TEXT,
      revision BIGINT,
      payload TEXT NOT NULL,
      at BIGINT NOT NULL,
      actor TEXT NOT NULL DEFAULT ''
    )`),
    sqlite(`INSERT INTO change_log_2 (seq, change_id, kind, project_id, environment_id, revision, payload, at, actor)
      SELECT seq, change_id, kind, project_id, environment_id, revision, payload, at, actor FROM change_log ORDER BY seq`),
    sqlite('DROP TABLE change_log'),
    sqlite('ALTER TABLE change_log_2 RENAME TO change_log'),

    // 1 in an entry that the indexes by environment and by actor leave out: one before it in its stretch has the same of both.
    'ALTER TABLE audit_log ADD COLUMN repeated BIGINT',
    sqlite(`CREATE TABLE audit_log_2 (
      id TEXT NOT NULL,
      seq BIGINT NOT NULL,
      position BIGINT NOT NULL,
      actor TEXT NOT NULL,
      ip TEXT,
      note TEXT,
      action TEXT NOT NULL,
      project_id TEXT,
      environment_id TEXT,
      target TEXT NOT NULL,
      before TEXT,
      after TEXT,
      at BIGINT NOT NULL,
      operation_seq BIGINT,
      reference TEXT,
      repeated BIGINT
    )`),
    sqlite(`INSERT INTO audit_log_2 (id, seq, position, actor, ip, note, action, project_id, environment_id, target, before, after, at,
        operation_seq, reference)
      SELECT id, seq, position, actor, ip, note, action, project_id, environment_id, target, before, after, at, operation_seq, reference
        FROM audit_log ORDER BY seq`),
    sqlite('DROP TABLE audit_log'),
    sqlite('ALTER TABLE audit_log_2 RENAME TO audit_log'),
    sqlite('CREATE INDEX audit_log_by_project ON audit_log (project_id, seq)'),
    sqlite('CREATE INDEX audit_log_by_target ON audit_log (project_id, target, seq)'),
    sqlite('CREATE INDEX audit_log_by_reference ON audit_log (reference) WHERE reference IS NOT NULL'),
    sqlite(
      `CREATE INDEX audit_log_by_seldom_action ON audit_log (action, seq) WHERE action <> 'flag.changed'`,
    ),
    sqlite(
      'CREATE INDEX audit_log_by_long_operation ON audit_log (operation_seq) WHERE operation_seq <> seq',
    ),
    { engine: 'postgres', statement: 'DROP INDEX audit_log_by_seq' },
    { engine: 'postgres', statement: 'DROP INDEX audit_log_by_environment' },
    { engine: 'postgres', statement: 'DROP INDEX audit_log_by_actor' },
    'CREATE INDEX audit_log_by_seq ON audit_log (seq, position)',
    'CREATE INDEX audit_log_by_environment ON audit_log (environment_id, seq) WHERE repeated IS NULL',
    'CREATE INDEX audit_log_by_actor ON audit_log (actor, seq) WHERE repeated IS NULL',
  ],

  [
    // Where the code of repositories has flags: the newest report of each. A program that does not know them can delete a project.
    `CREATE TABLE code_reports (
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
      repository TEXT NOT NULL,
      commit_id TEXT NOT NULL,
      link TEXT,
      reported_at BIGINT NOT NULL,
      reported_by TEXT NOT NULL,
      PRIMARY KEY (project_id, repository)
    )`,
    // The flags that it looked for. first_places: a JSON list of paths and lines.
    `CREATE TABLE code_references (
      project_id TEXT NOT NULL,
      repository TEXT NOT NULL,
      flag_key TEXT NOT NULL,
      places BIGINT NOT NULL,
      files BIGINT NOT NULL,
      first_places TEXT NOT NULL,
      PRIMARY KEY (project_id, repository, flag_key),
      FOREIGN KEY (project_id, repository) REFERENCES code_reports (project_id, repository) ON DELETE CASCADE
    )`,
  ],
];
