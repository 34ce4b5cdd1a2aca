import { ServiceError } from '../../domain/errors.ts';
import type { Environment, StateOperation } from '../../domain/project.ts';
import { runAll } from '../../storage/rows.ts';
import type { Tx } from '../../storage/tx.ts';
import { lockEnvironment } from '../environments/environment-table.ts';
import { interruptRemoved } from '../interruptions.ts';
import { readOpenPlans } from '../rollouts/rollout-table.ts';
import { differing, StateDraft } from './state-draft.ts';
import { readTexts } from './state-table.ts';

/** The result of a change of states. */
export interface StatesChanged {
  /** Of the environment, after the change. */
  readonly revision: number;
  /** Keys whose state changed; empty for a no-op. */
  readonly changed: readonly string[];
}

/**
 * Writes states of flags in one environment as one change: one revision, one log row, one audit entry per flag. Operations that
 * leave a state unchanged are dropped; without any other, nothing is written. Locks the environment if it is not locked, and
 * interrupts the schedules and plans of these flags. A plan that makes the change gives its id as `byPlan`, and keeps running.
 */
export async function changeStates(
  tx: Tx,
  { id, name }: Environment,
  operations: readonly StateOperation[],
  byPlan?: string,
): Promise<StatesChanged> {
  const environment = await lockEnvironment(tx, id);
  if (environment === undefined) {
    throw new ServiceError('environment_not_found', `The environment "${name}" was deleted.`);
  }
  const { projectId } = environment;
  const place = { projectId, environmentId: id };

  const before = await readTexts(tx, id, [...new Set(operations.map(([key]) => key))]);
  const changes = differing(operations, before);
  if (changes.length === 0) return { revision: environment.revision, changed: [] };
  const removed = changes.flatMap(([key, state]) => (state === null ? [key] : []));
  const kept = changes.flatMap(([key, state]) => (state === null ? [] : [key]));
  const plans = await readOpenPlans(tx, { ...place, keys: kept });

  const draft = new StateDraft({ environment, before, plans }, tx.now());
  draft.change(tx.journal, changes, byPlan);
  await runAll(tx, draft.statements());
  tx.locked.set(id, draft.environment);

  if (removed.length > 0) {
    const what = removed.length === 1 ? `The flag "${removed[0]}"` : 'A flag that it changes';
    await interruptRemoved(tx, { ...place, keys: removed }, `${what} was removed from ${name}.`);
  }
  return { revision: draft.environment.revision, changed: changes.map(([key]) => key) };
}
