import type { MigrationStep } from './step.ts';

/** Steps 5 to 16: single sign-on, usage, rollout plans, webhooks, roles in projects and publications. */
export const STEPS_FROM_SIGN_ON: readonly MigrationStep[] = [
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
    // Environments whose flags are read without a key. The time of creation shows that an environment was deleted and created
    // again, even if a node deleted it that does not know publications. Unwanted publications stay until their files are
    // removed. path: project/environment.
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
];
