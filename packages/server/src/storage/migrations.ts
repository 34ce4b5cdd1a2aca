/**
 * The schema's history: step n (from 1) leads from version n - 1 to n. A step that has been released never changes;
 * the next change is a new step. Only what both engines read: CREATE TABLE, CREATE INDEX, ADD COLUMN; TEXT, BIGINT.
 *
 * JSON is TEXT, because PostgreSQL's jsonb reorders members and refuses `\u0000`. Times are epoch milliseconds.
 */
export const MIGRATIONS: readonly (readonly string[])[] = [
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
    // A deleted environment keeps its row: the name, when used again, goes on counting from its revision.
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
    // The logs outlive what they tell of: no references.
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
];
