/** The roles, least first. Each role may do everything that the ones before it may. */
export const ROLES = ['viewer', 'editor', 'admin'] as const;

/**
 * `viewer` reads; `editor` changes flags and their states; `admin` manages projects, environments, keys, access
 * tokens and operators.
 */
export type Role = (typeof ROLES)[number];

/** A role for all projects, future ones included; `none`: only the roles in single projects count. */
export const GLOBAL_ROLES = ['none', 'viewer', 'editor', 'admin'] as const;

/** One of {@link GLOBAL_ROLES}. */
export type GlobalRole = (typeof GLOBAL_ROLES)[number];

/**
 * The tasks that an access token can be limited to: `plan` reads and previews imports, `states` also sets flag states, `audit` only
 * reads the audit log.
 */
export const TOKEN_LIMITS = ['plan', 'states', 'audit'] as const;

/** One of {@link TOKEN_LIMITS}. */
export type TokenLimit = (typeof TOKEN_LIMITS)[number];

/** The colors that an environment can have on a screen, beside its name. */
export const ENVIRONMENT_COLORS = [
  'gray',
  'blue',
  'green',
  'amber',
  'red',
  'violet',
  'teal',
  'pink',
] as const;

/** A color of an environment. */
export type EnvironmentColor = (typeof ENVIRONMENT_COLORS)[number];

/** The kinds of value that a flag can be declared to have; `none`: it is only on or off. */
export const VALUE_KINDS = ['any', 'none', 'text', 'number', 'json'] as const;

/** One of {@link VALUE_KINDS}. */
export type ValueKind = (typeof VALUE_KINDS)[number];

/**
 * The statuses of a proposal. `open` waits for approvals, `approved` for a person who applies it; the others are final, but for
 * `emergency`: a change that was made without approval, until another person acknowledges it.
 */
export const PROPOSAL_STATUSES = [
  'open',
  'approved',
  'applied',
  'rejected',
  'withdrawn',
  'expired',
  'outdated',
  'emergency',
  'acknowledged',
] as const;

/** The status of a proposal. */
export type ProposalStatus = (typeof PROPOSAL_STATUSES)[number];

/** What a webhook can be limited to: the nouns of a project's audit actions. */
export const WEBHOOK_EVENTS = [
  'flag',
  'environment',
  'key',
  'schedule',
  'rollout',
  'proposal',
  'project',
  'webhook',
] as const;

/** A noun of audit actions that webhooks deliver. */
export type WebhookEvents = (typeof WEBHOOK_EVENTS)[number];

/** The audit actions that have an opposite: a change of nothing else can be reverted. */
const REVERTIBLE_ACTIONS = [
  'flag.changed',
  'flag.updated',
  'flag.archived',
  'flag.restored',
  'flag.deleted',
  'flag.recreated',
  'environment.updated',
] as const;

/** An audit action that has an opposite. */
export type RevertibleAction = (typeof REVERTIBLE_ACTIONS)[number];

/** Whether an audit action has an opposite, so that it can be reverted. */
export function isRevertible(action: string): action is RevertibleAction {
  const actions: readonly string[] = REVERTIBLE_ACTIONS;
  return actions.includes(action);
}

/** What a document has beside the flags if it is asked for: settings of environments, project keys, webhooks, people of the project. */
export const DOCUMENT_SECTIONS = ['settings', 'keys', 'webhooks', 'members'] as const;

/** The sections from which an import removes what the document lacks, where it is asked to. */
export const REMOVABLE_SECTIONS = ['keys', 'webhooks', 'members'] as const;
