import type { Actor } from '../../domain/audit.ts';
import type { StateOperation } from '../../domain/project.ts';
import { invalid, quote } from '../../domain/strict-members.ts';
import type { ManagementContext } from '../context.ts';
import { type EnvironmentPlace, lockPlace } from '../lookup.ts';
import { type Written, writeRecord } from '../write.ts';
import { checkRevision, type ExpectedRevision } from './expected-revision.ts';
import { ensureFlags } from './flag-states.ts';

/** Several states of one environment, written together. */
export interface Change extends EnvironmentPlace {
  readonly operations: readonly StateOperation[];
  /** Checked against the environment's revision. */
  readonly expected: ExpectedRevision;
}

/** What a change did. */
export interface ChangeWritten {
  readonly environment: string;
  readonly revision: number;
  /** Keys whose state is now another. */
  readonly changed: readonly string[];
}

/**
 * Writes several states as one change: one revision, one frame, all or nothing. Flags are made where missing.
 * `invalid_argument`, `project_not_found`, `environment_not_found`, `revision_conflict`, `flag_archived`.
 */
export function applyChange(
  context: ManagementContext,
  actor: Actor,
  change: Change,
): Promise<Written<ChangeWritten>> {
  checkOperations(change.operations);
  return writeRecord(context, actor, async (transaction) => {
    const environment = await lockPlace(transaction, actor, change);
    checkRevision(change.expected, environment.revision);
    const keys = change.operations.flatMap(([key, state]) => (state === null ? [] : [key]));
    await ensureFlags(context, transaction, { projectId: environment.projectId, keys });
    const { revision, changed } = await transaction.changeStates(environment, change.operations);
    return { environment: environment.name, revision, changed };
  });
}

function checkOperations(operations: readonly StateOperation[]): void {
  if (operations.length === 0) throw invalid('"changes" is empty: name at least one flag.');
  const seen = new Set<string>();
  for (const [key] of operations) {
    if (seen.has(key))
      throw invalid(`"changes" names ${quote(key)} more than once: give one state per flag.`);
    seen.add(key);
  }
}
