import type { Affected } from '../domain/project.ts';
import { CHANGED_OUTSIDE } from '../domain/rollout-plan.ts';
import type { StoreTransaction } from '../domain/store.ts';
import { cancelSchedulesOf } from './schedules/schedule-table.ts';

/**
 * Ends the schedules and rollout plans of flags that are removed: what was removed must not reappear by itself. `reason` is
 * a sentence that people read. An operation that removes flags in several steps calls this before the first one, because
 * a schedule or plan that has ended keeps its reason.
 */
export async function interruptRemoved(
  tx: StoreTransaction,
  affected: Affected,
  reason: string,
): Promise<void> {
  const at = tx.now();
  await cancelSchedulesOf(tx, affected, { at, outcome: reason });
  await tx.rollouts.stopOf(affected, { at, reason });
}

/** Pauses the running plans of flags that were changed, except for the plan with the id `byPlan`, which made the change. */
export async function pauseChanged(tx: StoreTransaction, affected: Affected, byPlan?: string): Promise<void> {
  await tx.rollouts.pauseOf(affected, {
    at: tx.now(),
    reason: CHANGED_OUTSIDE,
    ...(byPlan === undefined ? {} : { except: byPlan }),
  });
}
