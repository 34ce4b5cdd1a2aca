import type { OpenDatabase } from './database.ts';

/** A statement for both engines, or for one of them. */
export type MigrationStatement =
  | string
  | { readonly engine: OpenDatabase['engine']; readonly statement: string };

/**
 * The schema's history: step n (from 1) leads from version n - 1 to n. A step that has been released never changes;
 * the next change is a new step. Only what both engines read: CREATE TABLE, CREATE INDEX, ADD COLUMN, RENAME; TEXT, BIGINT;
 * the collation C. Indexes alone may differ.
 *
 * JSON is TEXT, because PostgreSQL's jsonb reorders members and refuses `\u0000`. Times are epoch milliseconds.
 */
export const MIGRATIONS: readonly (readonly MigrationStatement[])[] = [
  [
    `CREATE TABLE IF NOT EXISTS halyard_schema (
      version INTEGER PRIMARY KEY,
      applied_at BIGINT NOT NULL
    )`,
    // One row. Its lock orders all commits, so that no reader can see a seq before the ones below it.
    `CREATE TABLE feed (
      id INTEGER PRIMARY KEY,
      epoch TEXT NOT NULL,
      seq BIGINT NOT NULL
    )`,
    `CREATE TABLE projects (
      id TEXT NOT NULL PRIMARY KEY,
      name TEXT NOT NULL UNIQUE,
      created_at BIGINT NOT NULL
    )`,
    // A deleted environment keeps its row: when the name is used again, its revisions continue from there.
    `CREATE TABLE environments (
      id TEXT NOT NULL PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id),
      name TEXT NOT NULL,
      revision BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      deleted_at BIGINT,
      UNIQUE (project_id, name)
    )`,
    `CREATE TABLE flags (
      project_id TEXT NOT NULL REFERENCES projects (id),
      key TEXT NOT NULL,
      description TEXT NOT NULL,
      tags TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (project_id, key)
    )`,
    `CREATE TABLE flag_states (
      environment_id TEXT NOT NULL REFERENCES environments (id),
      flag_key TEXT NOT NULL,
      project_id TEXT NOT NULL,
      state TEXT NOT NULL,
      revision BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      PRIMARY KEY (environment_id, flag_key),
      FOREIGN KEY (project_id, flag_key) REFERENCES flags (project_id, key)
    )`,
    'CREATE INDEX flag_states_by_flag ON flag_states (project_id, flag_key)',
    `CREATE TABLE project_keys (
      id TEXT NOT NULL PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id),
      name TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      last_four TEXT NOT NULL,
      environments TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT,
      revoked_at BIGINT,
      last_used_at BIGINT
    )`,
    'CREATE INDEX project_keys_by_project ON project_keys (project_id)',
    `CREATE TABLE access_tokens (
      id TEXT NOT NULL PRIMARY KEY,
      name TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      created_at BIGINT NOT NULL,
      expires_at BIGINT,
      revoked_at BIGINT,
      last_used_at BIGINT
    )`,
    // The logs outlive the records they mention, so they have no foreign keys.
    `CREATE TABLE change_log (
      seq BIGINT NOT NULL PRIMARY KEY,
      change_id TEXT NOT NULL UNIQUE,
      kind TEXT NOT NULL,
      project_id TEXT NOT NULL,
      environment_id TEXT,
      revision BIGINT,
      payload TEXT NOT NULL,
      at BIGINT NOT NULL,
      UNIQUE (environment_id, revision)
    )`,
    `CREATE TABLE audit_log (
      id TEXT NOT NULL PRIMARY KEY,
      seq BIGINT NOT NULL,
      position INTEGER NOT NULL,
      actor TEXT NOT NULL,
      ip TEXT,
      note TEXT,
      action TEXT NOT NULL,
      project_id TEXT,
      environment_id TEXT,
      target TEXT NOT NULL,
      before TEXT,
      after TEXT,
      at BIGINT NOT NULL
    )`,
    'CREATE INDEX audit_log_by_seq ON audit_log (seq)',
    'CREATE INDEX audit_log_by_project ON audit_log (project_id, seq)',
    'CREATE INDEX audit_log_by_target ON audit_log (project_id, target, seq)',
    'CREATE INDEX audit_log_by_environment ON audit_log (environment_id, seq)',
  ],
  [
    'ALTER TABLE environments ADD COLUMN protected BIGINT NOT NULL DEFAULT 0',
    `ALTER TABLE environments ADD COLUMN color TEXT NOT NULL DEFAULT ''`,
    'ALTER TABLE environments ADD COLUMN position BIGINT NOT NULL DEFAULT 0',
    `ALTER TABLE flags ADD COLUMN owner TEXT NOT NULL DEFAULT ''`,
    'ALTER TABLE flags ADD COLUMN archived_at BIGINT',
    // The states of an archived flag, by environment id.
    'ALTER TABLE flags ADD COLUMN archived_states TEXT',
    // The name of the actor who wrote the state or the row; empty in older ones.
    `ALTER TABLE flag_states ADD COLUMN updated_by TEXT NOT NULL DEFAULT ''`,
    `ALTER TABLE change_log ADD COLUMN actor TEXT NOT NULL DEFAULT ''`,
    // The last seq of the operation that an entry belongs to; NULL in older entries: each is an operation alone.
    'ALTER TABLE audit_log ADD COLUMN operation_seq BIGINT',
    'CREATE INDEX audit_log_by_operation ON audit_log (operation_seq)',
    `ALTER TABLE access_tokens ADD COLUMN role TEXT NOT NULL DEFAULT 'admin'`,
    'ALTER TABLE access_tokens ADD COLUMN can_change_protected BIGINT NOT NULL DEFAULT 1',
    `CREATE TABLE operators (
      id TEXT NOT NULL PRIMARY KEY,
      email TEXT NOT NULL UNIQUE,
      name TEXT NOT NULL,
      password_hash TEXT NOT NULL,
      role TEXT NOT NULL,
      can_change_protected BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      last_seen_at BIGINT
    )`,
    `CREATE TABLE sessions (
      digest TEXT NOT NULL PRIMARY KEY,
      operator_id TEXT NOT NULL REFERENCES operators (id),
      created_at BIGINT NOT NULL,
      last_used_at BIGINT NOT NULL
    )`,
    'CREATE INDEX sessions_by_operator ON sessions (operator_id)',
    // Links that are good for one use: the first administrator, an invitation, a new password.
    `CREATE TABLE invitations (
      id TEXT NOT NULL PRIMARY KEY,
      kind TEXT NOT NULL,
      digest TEXT NOT NULL UNIQUE,
      email TEXT,
      role TEXT NOT NULL,
      can_change_protected BIGINT NOT NULL,
      created_by TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      expires_at BIGINT NOT NULL,
      used_at BIGINT,
      revoked_at BIGINT
    )`,
    // Failed sign-ins, by what is counted: an account or an address. The count restarts after the window.
    `CREATE TABLE sign_in_failures (
      bucket TEXT NOT NULL PRIMARY KEY,
      failures BIGINT NOT NULL,
      since BIGINT NOT NULL
    )`,
    `CREATE TABLE scheduled_changes (
      id TEXT NOT NULL PRIMARY KEY,
      project_id TEXT NOT NULL,
      environment_id TEXT NOT NULL,
      changes TEXT NOT NULL,
      note TEXT,
      created_by TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      due_at BIGINT NOT NULL,
      status TEXT NOT NULL,
      settled_at BIGINT,
      outcome TEXT
    )`,
    'CREATE INDEX scheduled_changes_by_status ON scheduled_changes (status, due_at)',
    'CREATE INDEX scheduled_changes_by_project ON scheduled_changes (project_id, due_at)',
    // How many streams of each node took the frame of a change, and how soon. Bounded by housekeeping.
    `CREATE TABLE delivery_receipts (
      seq BIGINT NOT NULL,
      node_id TEXT NOT NULL,
      environment_id TEXT NOT NULL,
      streams BIGINT NOT NULL,
      seen BIGINT NOT NULL,
      slowest_ms BIGINT NOT NULL,
      at BIGINT NOT NULL,
      PRIMARY KEY (seq, node_id)
    )`,
    // Open streams by node, environment and key, refreshed while the node lives. An empty key_id: no project key.
    `CREATE TABLE stream_presence (
      node_id TEXT NOT NULL,
      environment_id TEXT NOT NULL,
      key_id TEXT NOT NULL,
      streams BIGINT NOT NULL,
      seen_at BIGINT NOT NULL,
      PRIMARY KEY (node_id, environment_id, key_id)
    )`,
    'CREATE INDEX stream_presence_by_environment ON stream_presence (environment_id)',
  ],
  [
    // Relays follow the log with these. Without a list of projects or environments they get all. active_name is the name
    // until the token is revoked.
    `CREATE TABLE relay_tokens (
      id TEXT NOT NULL PRIMARY KEY,
      name TEXT NOT NULL,
      active_name TEXT UNIQUE,
      digest TEXT NOT NULL UNIQUE,
      projects TEXT,
      environments TEXT,
      created_at BIGINT NOT NULL,
      revoked_at BIGINT,
      last_used_at BIGINT
    )`,
  ],
  [
    // For lists that are read in pages. The collation, byte by byte, is the same everywhere.
    'CREATE INDEX flags_by_key ON flags (project_id, key COLLATE "C")',
    'CREATE INDEX flag_states_by_key ON flag_states (environment_id, flag_key COLLATE "C")',
    'CREATE INDEX project_keys_by_name ON project_keys (project_id, name COLLATE "C", id COLLATE "C")',
    'DROP INDEX project_keys_by_project',
    'CREATE INDEX audit_log_by_actor ON audit_log (actor, seq)',
    'CREATE INDEX audit_log_by_action ON audit_log (action, seq)',
  ],
  [
    // An operator of single sign-on: who the provider says it is, and an empty password_hash.
    'ALTER TABLE operators ADD COLUMN sso_issuer TEXT',
    'ALTER TABLE operators ADD COLUMN sso_subject TEXT',
    'CREATE UNIQUE INDEX operators_by_identity ON operators (sso_issuer, sso_subject)',
    // Sign-ons that have succeeded, so that none works twice on any node. Bounded by housekeeping.
    `CREATE TABLE used_sign_ons (
      digest TEXT NOT NULL PRIMARY KEY,
      at BIGINT NOT NULL
    )`,
  ],
  [
    // A flag that is meant to stay.
    'ALTER TABLE flags ADD COLUMN permanent BIGINT NOT NULL DEFAULT 0',
  ],
  [
    // Since when clients report how often they read each flag; NULL while they do not.
    'ALTER TABLE projects ADD COLUMN usage_since BIGINT',
    // The reads of one flag in one hour (its start) by outcome. Bounded by housekeeping.
    `CREATE TABLE flag_usage (
      environment_id TEXT NOT NULL,
      flag_key TEXT NOT NULL,
      hour BIGINT NOT NULL,
      outcome TEXT NOT NULL,
      reads BIGINT NOT NULL,
      PRIMARY KEY (environment_id, flag_key, hour, outcome)
    )`,
    'CREATE INDEX flag_usage_by_hour ON flag_usage (hour)',
    // The last hour in which a flag was read; kept for longer than the counts.
    `CREATE TABLE flag_last_reads (
      environment_id TEXT NOT NULL,
      flag_key TEXT NOT NULL,
      hour BIGINT NOT NULL,
      PRIMARY KEY (environment_id, flag_key)
    )`,
  ],
  [
    // open_flag is the flag's key while the plan is running or paused: a flag has one such plan in each environment.
    `CREATE TABLE rollout_plans (
      id TEXT NOT NULL PRIMARY KEY,
      project_id TEXT NOT NULL,
      environment_id TEXT NOT NULL,
      flag_key TEXT NOT NULL,
      open_flag TEXT,
      steps TEXT NOT NULL,
      note TEXT,
      created_by TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      from_pct TEXT NOT NULL,
      runs_as TEXT NOT NULL,
      runs_since BIGINT NOT NULL,
      status TEXT NOT NULL,
      status_at BIGINT NOT NULL,
      status_by TEXT NOT NULL,
      reason TEXT,
      next_step BIGINT NOT NULL,
      due_at BIGINT,
      ran TEXT NOT NULL,
      state_revision BIGINT,
      UNIQUE (environment_id, open_flag)
    )`,
    'CREATE INDEX rollout_plans_by_due ON rollout_plans (status, due_at)',
    'CREATE INDEX rollout_plans_by_project ON rollout_plans (project_id, status_at)',
  ],
  [
    // The delivery position is the seq of the last change that was delivered, skipped or given up. Both secrets are as they
    // are, because messages are signed with them. Deleted with the project, also by a node that does not know webhooks.
    `CREATE TABLE webhooks (
      id TEXT NOT NULL PRIMARY KEY,
      project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
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
    // The last attempts of each webhook.
    `CREATE TABLE webhook_deliveries (
      webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
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
  ],
  [
    // Roles in single projects: a JSON list of { id, role, protected }. NULL: none.
    'ALTER TABLE operators ADD COLUMN project_roles TEXT',
    'ALTER TABLE invitations ADD COLUMN project_roles TEXT',
    'ALTER TABLE access_tokens ADD COLUMN project_roles TEXT',
    // The only task of the token. NULL: all that its roles allow.
    'ALTER TABLE access_tokens ADD COLUMN only_task TEXT',
  ],
  [
    // The kind of value that code expects.
    `ALTER TABLE flags ADD COLUMN value_kind TEXT NOT NULL DEFAULT 'any'`,
  ],
  [
    // The caller's own name for the request, by which it finds what it changed.
    'ALTER TABLE audit_log ADD COLUMN reference TEXT',
    'CREATE INDEX audit_log_by_reference ON audit_log (reference) WHERE reference IS NOT NULL',
  ],
  [
    // Seals the change ids that relays get; made by the first node that needs it, and kept in backups.
    'ALTER TABLE feed ADD COLUMN seal_key TEXT',
  ],
  [
    // Ties a one-time link to the token of the settings that made it. NULL: made by anyone else, or before.
    'ALTER TABLE invitations ADD COLUMN made_with TEXT',
  ],
  [
    // References under which nothing is changed from now on, each with its actor behind a space.
    `CREATE TABLE closed_references (
      id TEXT NOT NULL PRIMARY KEY,
      closed_at BIGINT NOT NULL
    )`,
  ],
  [
    // Environments whose flags are read without a key. One that was deleted and created again is another one, which the time of
    // its creation tells, also where a node deleted it that does not know publications. Until their files are removed, those
    // that are no longer wanted stay. path: project/environment.
    `CREATE TABLE publications (
      environment_id TEXT NOT NULL PRIMARY KEY,
      environment_created_at BIGINT NOT NULL,
      path TEXT NOT NULL,
      wanted BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      revision BIGINT,
      published_at BIGINT
    )`,
    // The lease of the one node that publishes: one row.
    `CREATE TABLE publisher (
      id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
      leased_by TEXT,
      leased_until BIGINT
    )`,
    'INSERT INTO publisher (id) VALUES (1)',
  ],
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
    { engine: 'sqlite', statement: 'DROP INDEX flags_by_key' },
    { engine: 'sqlite', statement: 'DROP INDEX flag_states_by_key' },
  ],
  [
    // Most changes are of the state of one flag, which is an operation of one row: they need no place in these two.
    `CREATE INDEX audit_log_by_seldom_action ON audit_log (action, seq) WHERE action <> 'flag.changed'`,
    'DROP INDEX audit_log_by_action',
    'CREATE INDEX audit_log_by_long_operation ON audit_log (operation_seq) WHERE operation_seq <> seq',
    'DROP INDEX audit_log_by_operation',
  ],
];
