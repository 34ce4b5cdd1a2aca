import type { Actor } from '../domain/audit.ts';
import { quote, ServiceError } from '../domain/errors.ts';
import type { Environment } from '../domain/project.ts';
import type { Committed } from '../storage/store.ts';
import type { Tx } from '../storage/tx.ts';
import type { ManagementContext } from './context.ts';
import { mayChangeProtected, requireRole } from './rights.ts';

/** A record after a write. */
export type Written<T extends object> = T & {
  /** The number of the change in the log; absent when nothing changed. */
  readonly seq?: number;
};

/**
 * Runs one management operation as one transaction and returns its result once this node has applied it, or has waited for that long enough (Spec: S14.7). What `work`
 * changes it locks first; then it checks the actor's permission and the revision that the writer expects.
 */
export async function write<T>(
  context: ManagementContext,
  actor: Actor,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  return (await applyWrite(context, actor, work)).result;
}

/** As {@link write}, with the number of the change in the result. */
export async function writeRecord<T extends object>(
  context: ManagementContext,
  actor: Actor,
  work: (tx: Tx) => Promise<T>,
): Promise<Written<T>> {
  const { result, seq } = await applyWrite(context, actor, work);
  return seq === undefined ? result : { ...result, seq };
}

/** As {@link write}, for a command that leaves no record: returns the number of the change. */
export function writeDone(
  context: ManagementContext,
  actor: Actor,
  work: (tx: Tx) => Promise<void>,
): Promise<Written<object>> {
  return writeRecord(context, actor, async (tx) => {
    await work(tx);
    return {};
  });
}

async function applyWrite<T>(
  context: ManagementContext,
  actor: Actor,
  work: (tx: Tx) => Promise<T>,
): Promise<Committed<T>> {
  const { approval } = actor;
  return applied(context, () =>
    context.store.commit(actor, async (tx) => {
      if (approval !== undefined) tx.beforePeople = async () => approval.lock?.(tx);
      const result = await work(tx);
      await approval?.finish(tx);
      return result;
    }),
  );
}

/** Settles a commit once this node has applied it, as {@link write} does. */
export async function applied<T>(
  context: ManagementContext,
  commit: () => Promise<Committed<T>>,
): Promise<Committed<T>> {
  context.assertWritable();
  const committed = await commit();
  if (committed.seq === undefined) return committed;

  await context.waitForApplied(committed.seq);
  // The frames leave when this turn of the event loop ends: the answer is made in the next one, so that they do not wait for it.
  await new Promise<void>((resolve) => void setImmediate(resolve));
  return committed;
}

/**
 * Refuses an actor who may not change the states of this environment now: `forbidden` without the permission,
 * `approval_required` where other people must approve first, `reason_required` where every change has a reason, and
 * `confirmation_required` when it is protected and an operator has not confirmed this request. Everything that changes states
 * calls it under the lock of the environment. (Spec: S20.1, S20.6)
 */
export function requireChangeOf(actor: Actor, environment: Environment): void {
  requireRole(actor, 'states', { id: environment.projectId });
  const { approval, permissions } = actor;
  // Who is exempt may still ask for approval.
  const needsApproval = environment.approvals > 0 && (permissions.exempt !== true || approval !== undefined);
  if (needsApproval) requireApproval(actor, environment);
  const isConfirmed = needsApproval && approval?.isConfirmed === true;

  if (!isConfirmed) requirePermission(actor, environment);
  requireReason(actor, environment);
  if (!isConfirmed && environment.protected) requireConfirmation(actor, environment);
}

/** Refuses a change without a reason where each has one: that of the person or token that decides on it. */
function requireReason({ note = '' }: Actor, { name, reasonRequired }: Environment): void {
  if (!reasonRequired || note.trim() !== '') return;
  throw new ServiceError(
    'reason_required',
    `A change of ${quote(name)} needs a reason: send it in "X-Change-Note" (--note).`,
  );
}

/** Refuses an actor who has not confirmed this request with the name of the environment. `confirmation_required`. */
export function requireConfirmation({ permissions: { confirmed } }: Actor, { name }: Environment): void {
  if (confirmed === 'all' || confirmed.includes(name)) return;
  throw new ServiceError(
    'confirmation_required',
    `The environment ${quote(name)} is protected: confirm the change by sending its name in "X-Confirm-Environment".`,
  );
}

/** As {@link requireChangeOf}, for what ends a plan or schedule and changes no state: it needs no approval and no confirmation. */
export function requirePermission(
  actor: Actor,
  { projectId, name, protected: isProtected }: Environment,
): void {
  requireRole(actor, 'states', { id: projectId });
  if (!isProtected || mayChangeProtected(actor.permissions, projectId)) return;
  throw new ServiceError(
    'forbidden',
    `The environment ${quote(name)} is protected, and you may not change it: ask an administrator.`,
  );
}

function requireApproval({ approval }: Actor, environment: Environment): void {
  if (approval !== undefined) {
    approval.covers(environment);
    return;
  }
  const { name, approvals } = environment;
  const others = approvals === 1 ? 'another person' : `${approvals} other people`;
  throw new ServiceError(
    'approval_required',
    `A change of ${quote(name)} requires the approval of ${others}: propose it with the same request and "?propose=true" (--propose).`,
  );
}

/** Whether {@link requireChangeOf} lets the actor change the states of this environment. */
export function mayChange(actor: Actor, environment: Environment): boolean {
  try {
    requireChangeOf(actor, environment);
    return true;
  } catch (error) {
    if (error instanceof ServiceError) return false;
    throw error;
  }
}

/** The revision that the writer expects; checked under the lock. Without members nothing is checked. */
export interface ExpectedRevision {
  /** One of these revisions, or `any` for whatever it is as long as it exists. (If-Match) */
  readonly present?: readonly number[] | 'any';
  /** It must not exist yet. (If-None-Match: *) */
  readonly absent?: true;
}

/** Refuses with `revision_conflict` what another writer changed first; `current` is `undefined` when it does not exist. */
export function checkRevision(expected: ExpectedRevision, current: number | undefined): void {
  if (expected.absent === true && current !== undefined) {
    throw conflict(`it already exists, at revision ${current}: read it, then retry.`);
  }
  const { present } = expected;
  if (present === undefined || (present === 'any' && current !== undefined)) return;
  if (current === undefined) throw conflict('it does not exist: read again, then retry.');
  if (present !== 'any' && present.includes(current)) return;
  throw conflict(`it is now at revision ${current}: read it, then retry.`);
}

function conflict(what: string): ServiceError {
  return new ServiceError('revision_conflict', `Nothing was changed, because ${what}`);
}
