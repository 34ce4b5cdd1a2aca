import { isRevertible } from '@halyard/protocol';
import { type Actor, isAboutPeople } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Environment, StateOperation } from '../../domain/project.ts';
import { REMOVED } from '../../domain/redaction.ts';
import type { ManagementContext } from '../../management/context.ts';
import { requireRole, sees, seesPeople } from '../../management/rights.ts';
import { prefixNote } from '../../management/rules.ts';
import { requireChangeOf, type Written, writeRecord } from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { readRedactedThrough } from '../audit-chain/block-table.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { changeAppearance } from '../environments/environments.ts';
import { archiveLocked, restoreLocked } from '../flags/flag-archive.ts';
import { insertWholeFlag, removeFlag, storeFlag } from '../flags/flag-table.ts';
import { interruptFlag } from '../interruptions.ts';
import { byName, lockWholeProject } from '../locks.ts';
import { recordNotFound } from '../lookup.ts';
import { readProjects } from '../projects/project-table.ts';
import { changeStates } from '../states/change-states.ts';
import { ensureFlags } from '../states/states.ts';
import { type AuditedOperation, readOperation } from './audit-query.ts';
import { planRevert, type RevertPlan } from './revert-plan.ts';

/** The change to revert, and the options. */
export interface RevertInput {
  /** Any change-log row of the change. */
  readonly seq: number;
  /** `anyway` also reverts what has changed since. */
  readonly conflicts: 'refuse' | 'anyway';
  /** `preview` only returns what would be done. */
  readonly mode: 'apply' | 'preview';
}

/**
 * Reverts one change with a new change, which can itself be reverted. All or nothing: `revision_conflict` when something
 * has changed since, `not_revertible` when an action has no opposite. Further `not_found`,
 * `flag_archived`, `forbidden`, `confirmation_required`.
 */
export async function revertChange(
  context: ManagementContext,
  actor: Actor,
  input: RevertInput,
): Promise<Written<Pick<RevertPlan, 'differences'>>> {
  if (input.mode === 'preview') {
    return context.store.read(async (db) => {
      const operation = await findRevertible(db, actor, input.seq);
      const environments = byName(await readEnvironments(db, projectOf(operation)));
      const { differences } = await planFor(db, input, { operation, environments });
      return { differences };
    });
  }

  const note = prefixNote(`Reverts change ${input.seq}`, actor.note);
  return writeRecord(context, { ...actor, note }, async (tx) => {
    const operation = await findRevertible(tx, actor, input.seq);
    const environments = await lockWholeProject(tx, projectOf(operation));

    const plan = await planFor(tx, input, { operation, environments });
    await applyRevert(context, actor, tx, { plan, environments });
    return { differences: plan.differences };
  });
}

/** The operation that wrote row `seq` of the change log, without what the actor may not see. `not_found`. */
export async function findVisible(db: Queryable, actor: Actor, seq: number): Promise<AuditedOperation> {
  const operation = await readOperation(db, seq);
  const entries = (operation?.entries ?? []).filter(({ action, projectId }) =>
    projectId === undefined || isAboutPeople(action) ? seesPeople(actor) : sees(actor, projectId),
  );
  if (operation !== undefined && entries.length > 0) return { ...operation, entries };
  throw recordNotFound(
    `Change ${seq} does not exist. Find its number with "halyard audit" or GET /api/audit.`,
  );
}

async function findRevertible(db: Queryable, actor: Actor, seq: number): Promise<AuditedOperation> {
  const operation = await findVisible(db, actor, seq);
  requireRole(actor, 'editor', { id: projectOf(operation) });
  const reason = await unrevertible(db, operation);
  if (reason !== undefined) throw notRevertible(seq, reason);

  const projects = await readProjects(db);
  if (projects.some(({ id }) => id === projectOf(operation))) return operation;
  throw notRevertible(seq, 'its project has been deleted');
}

async function planFor(
  db: Queryable,
  { seq, conflicts }: RevertInput,
  given: { readonly operation: AuditedOperation; readonly environments: readonly Environment[] },
): Promise<RevertPlan> {
  const plan = await planRevert(db, given);
  if (plan.obstacle !== undefined) throw notRevertible(seq, plan.obstacle);
  if (plan.conflicts.length === 0 || conflicts === 'anyway') return plan;

  const [first = '', ...others] = plan.conflicts;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  throw new ServiceError(
    'revision_conflict',
    `Nothing was reverted, because something has changed since: ${first}${more}. Check it, then revert with "force".`,
  );
}

/** All entries of a revertible operation are in one project. */
function projectOf({ entries: [first] }: AuditedOperation): string {
  return first?.projectId ?? '';
}

function notRevertible(seq: number, reason: string): ServiceError {
  return new ServiceError('not_revertible', `Change ${seq} cannot be reverted, because ${reason}.`);
}

/** Actions that accompany others, and need not be reverted. */
const IGNORED_ACTIONS = new Set([
  ...['flag.created', 'schedule.applied', 'schedule.cancelled'],
  ...['rollout.started', 'rollout.advanced', 'rollout.paused', 'rollout.stopped'],
  ...['proposal.approved', 'proposal.applied', 'proposal.outdated', 'proposal.emergency'],
]);

const REASONS: Readonly<Record<string, string>> = {
  'flag.created': 'it created a flag: archive the flag instead',
  'key.created': 'it created a project key: revoke the key instead',
  'key.revoked': 'the secret of a revoked key is not kept: create a new key',
  'key.replaced': 'the end of a key stays: replace or revoke the new key instead',
  'project.created': 'it created a project: delete the project instead',
  'project.deleted': 'the contents of a deleted project are not kept: import an export of it',
  'environment.created': 'it created an environment: delete the environment instead',
  'schedule.cancelled': 'a canceled schedule stays canceled: schedule the change again',
  'rollout.started': 'it started a rollout plan: stop the plan instead',
  'rollout.paused': 'it paused a rollout plan: resume the plan instead',
  'rollout.resumed': 'it resumed a rollout plan: pause the plan instead',
  'rollout.stopped': 'a stopped rollout plan stays stopped: start a new one',
  'proposal.created': 'it proposed a change: withdraw the proposal instead',
  'environment.deleted':
    'the states of a deleted environment are not kept: create it again and copy them from another environment',
};

/** Why an operation cannot be reverted, as the end of a sentence; `undefined` when it can. */
export async function unrevertible(db: Queryable, operation: AuditedOperation): Promise<string | undefined> {
  const reason = withoutOpposite(operation);
  const hasMark = operation.entries.some(({ before = '', after = '' }) => (before + after).includes(REMOVED));
  if (reason !== undefined || !hasMark) return reason;

  const redacted = (await readRedactedThrough(db)) ?? 0;
  return operation.seq <= redacted ? 'personal data was removed from what it changed' : undefined;
}

function withoutOpposite({ entries }: AuditedOperation): string | undefined {
  const actions = entries.map(({ action }) => action);
  const other = actions.find((action) => !isRevertible(action) && !IGNORED_ACTIONS.has(action));
  if (other !== undefined) return REASONS[other] ?? `"${other}" has no opposite`;
  if (actions.some(isRevertible)) return undefined;
  return REASONS[actions[0] ?? ''] ?? 'it changed nothing that can be reverted';
}

/** Carries out the plan, with one change in each environment. `forbidden`, `confirmation_required`. */
async function applyRevert(
  context: ManagementContext,
  actor: Actor,
  tx: Tx,
  { plan, environments }: { readonly plan: RevertPlan; readonly environments: readonly Environment[] },
): Promise<void> {
  for (const { flag, states } of plan.recreate) await insertWholeFlag(tx, flag, states, 'flag.recreated');
  for (const flag of plan.restore) await restoreLocked(actor, tx, { flag, environments });
  await writeStates(context, actor, tx, plan);

  for (const flag of plan.archive) await archiveLocked(context, actor, tx, { flag, environments });
  for (const flag of plan.texts) await storeFlag(tx, flag);

  for (const flag of plan.remove) {
    requireRole(actor, 'admin', { id: flag.projectId });
    await interruptFlag(tx, flag, 'deleted');
    await removeFlag(tx, flag);
  }

  for (const environment of plan.appearance) {
    requireRole(actor, 'admin', { id: environment.projectId });
    const known = environments.find(({ id }) => id === environment.id);
    if (known !== undefined) await changeAppearance(actor, tx, { before: known, after: environment });
  }
}

async function writeStates(
  context: ManagementContext,
  actor: Actor,
  tx: Tx,
  { states }: RevertPlan,
): Promise<void> {
  const [first] = states;
  if (first === undefined) return;
  const keys = states.flatMap(({ key, state }) => (state === undefined ? [] : [key]));
  const { projectId } = first.environment;
  if (keys.length > 0) await ensureFlags(context, tx, { projectId, keys: [...new Set(keys)] });

  for (const [environment, steps] of Map.groupBy(states, (step) => step.environment)) {
    requireChangeOf(actor, environment);
    await changeStates(
      tx,
      environment,
      steps.map(({ key, state }): StateOperation => [key, state ?? null]),
    );
  }
}
