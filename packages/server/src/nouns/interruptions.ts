import type { Affected, Flag } from '../domain/project.ts';
import type { Statement } from '../storage/database.ts';
import type { Journal } from '../storage/journal.ts';
import type { Tx } from '../storage/tx.ts';
import { CHANGED_OUTSIDE, type RolloutPlan } from './rollouts/rollout-plan.ts';
import { stopPlansOf, storingPlan } from './rollouts/rollout-table.ts';
import { cancelSchedulesOf } from './schedules/schedule-table.ts';

/**
 * Ends the schedules and rollout plans of flags that are removed: what was removed must not reappear by itself. `reason` is
 * a sentence that people read. An operation that removes flags in several steps calls this before the first one, because
 * a schedule or plan that has ended keeps its reason.
 */
export async function interruptRemoved(tx: Tx, affected: Affected, reason: string): Promise<void> {
  const at = tx.now();
  await cancelSchedulesOf(tx, affected, { at, outcome: reason });
  await stopPlansOf(tx, affected, { at, reason });
}

/** As {@link interruptRemoved}, of a flag that is about to be archived or deleted. */
export async function interruptFlag(
  tx: Tx,
  { projectId, key }: Pick<Flag, 'projectId' | 'key'>,
  what: 'archived' | 'deleted',
): Promise<void> {
  await interruptRemoved(tx, { projectId, keys: [key] }, `The flag "${key}" was ${what}.`);
}

/** Pauses the running plan of a flag that was changed by anything but the plan. The statement writes it. */
export function pauseChanged(journal: Journal, plan: RolloutPlan, at: number): Statement {
  const paused = {
    status: 'paused',
    statusAt: at,
    statusBy: journal.actor,
    reason: CHANGED_OUTSIDE,
  } as const;
  return storingPlan(journal, plan, paused, { action: 'rollout.paused' });
}
