import type { MigrationStep } from './step.ts';

/** Steps 1 to 4: the records and the logs, people, schedules, receipts, relays, and the indexes for pages. */
export const STEPS_FROM_RECORDS: readonly MigrationStep[] = [
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
];
