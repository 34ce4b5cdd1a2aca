import type { Actor } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Environment } from '../../domain/project.ts';
import type { AuditedOperation, StoreReader } from '../../domain/store.ts';
import type { ManagementContext } from '../context.ts';
import { byName, lockProject } from '../lookup.ts';
import { prefixNote } from '../rules.ts';
import { type Written, writeRecord } from '../write.ts';
import { findOperation } from './history.ts';
import { applyRevert } from './revert-apply.ts';
import { planRevert, type RevertDifference, type RevertPlan } from './revert-plan.ts';
import { unrevertible } from './revertible.ts';

/** What to revert, and how. */
export interface RevertInput {
  /** Any change-log row of the change. */
  readonly seq: number;
  /** `anyway` also where something has changed since. */
  readonly conflicts: 'refuse' | 'anyway';
  /** `preview` only says what would be done. */
  readonly mode: 'apply' | 'preview';
}

/** What a revert did, or would do. */
export interface Reverted {
  readonly differences: readonly RevertDifference[];
}

/**
 * Puts back what one change changed, as a new change that can itself be reverted. All or nothing: where something
 * has changed since it is `revision_conflict`, and what has no opposite is `not_revertible`. Further `not_found`,
 * `flag_archived`, `forbidden`, `confirmation_required`.
 */
export async function revertChange(
  context: ManagementContext,
  actor: Actor,
  input: RevertInput,
): Promise<Written<Reverted>> {
  if (input.mode === 'preview') {
    return context.store.read(async (reader) => {
      const operation = await findRevertible(reader, input.seq);
      const environments = byName(await reader.environments(projectOf(operation)));
      return outcome(await planFor(reader, input, { operation, environments }));
    });
  }
  return writeRecord(context, { ...actor, note: noteOf(actor, input.seq) }, async (transaction) => {
    const operation = await findRevertible(transaction, input.seq);
    const environments = await lockProject(transaction, projectOf(operation));
    const plan = await planFor(transaction, input, { operation, environments });
    await applyRevert(context, actor, transaction, { plan, environments });
    return outcome(plan);
  });
}

async function findRevertible(reader: StoreReader, seq: number): Promise<AuditedOperation> {
  const operation = await findOperation(reader, seq);
  const reason = unrevertible(operation);
  if (reason !== undefined) throw notRevertible(seq, reason);
  const projects = await reader.projects();
  if (projects.some(({ id }) => id === projectOf(operation))) return operation;
  throw notRevertible(seq, 'its project has been deleted');
}

async function planFor(
  reader: StoreReader,
  { seq, conflicts }: RevertInput,
  given: { readonly operation: AuditedOperation; readonly environments: readonly Environment[] },
): Promise<RevertPlan> {
  const plan = await planRevert(reader, given);
  if (plan.obstacle !== undefined) throw notRevertible(seq, plan.obstacle);
  if (plan.conflicts.length === 0 || conflicts === 'anyway') return plan;
  const [first = '', ...others] = plan.conflicts;
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  throw new ServiceError(
    'revision_conflict',
    `Nothing was reverted, because something has changed since: ${first}${more}. Look at it, then revert with "force".`,
  );
}

function outcome({ differences }: RevertPlan): Reverted {
  return { differences };
}

/** Everything revertible happens in one project. */
function projectOf({ entries: [first] }: AuditedOperation): string {
  return first?.projectId ?? '';
}

function noteOf({ note }: Actor, seq: number): string {
  return prefixNote(`Reverts change ${seq}`, note);
}

function notRevertible(seq: number, reason: string): ServiceError {
  return new ServiceError('not_revertible', `Change ${seq} cannot be reverted, because ${reason}.`);
}
