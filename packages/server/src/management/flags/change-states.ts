import type { Environment, StateOperation } from '../../domain/project.ts';
import type { StatesChanged, StoreTransaction } from '../../domain/store.ts';
import { interruptRemoved, pauseChanged } from '../../nouns/interruptions.ts';

/**
 * Writes states of flags in one environment as one change, as {@link StoreTransaction.storeStates} says, and interrupts
 * the schedules and plans of these flags. A plan that makes the change gives its id as `byPlan`, and keeps running.
 */
export async function changeStates(
  transaction: StoreTransaction,
  environment: Environment,
  operations: readonly StateOperation[],
  byPlan?: string,
): Promise<StatesChanged> {
  const written = await transaction.storeStates(environment, operations);

  const { id: environmentId, projectId, name } = environment;
  const isRemoved = new Map(operations.map(([key, state]) => [key, state === null]));
  const { removed = [], changed = [] } = Object.groupBy(written.changed, (key) =>
    isRemoved.get(key) ? 'removed' : 'changed',
  );

  if (removed.length > 0) {
    const what = removed.length === 1 ? `The flag "${removed[0]}"` : 'A flag that it changes';
    const reason = `${what} was removed from ${name}.`;
    await interruptRemoved(transaction, { projectId, environmentId, keys: removed }, reason);
  }
  if (changed.length > 0) {
    await pauseChanged(transaction, { projectId, environmentId, keys: changed }, byPlan);
  }

  return written;
}
