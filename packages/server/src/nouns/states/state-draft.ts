import type { Environment, StateOperation, StateText, StoredState } from '../../domain/project.ts';
import type { Statement } from '../../storage/database.ts';
import type { Journal } from '../../storage/journal.ts';
import { pauseChanged } from '../interruptions.ts';
import type { RolloutPlan } from '../rollouts/rollout-plan.ts';
import { noteChange, storingStates } from './state-table.ts';

/** What changes of states find: an environment under its lock, with what concerns the flags that they name. */
export interface StatePlace {
  readonly environment: Environment;
  /** The states, by flag key. */
  readonly before: ReadonlyMap<string, StateText>;
  /** The open rollout plans. */
  readonly plans: readonly RolloutPlan[];
}

/** The operations that change something, each flag once: the last one of a flag counts. */
export function differing(
  operations: readonly StateOperation[],
  before: ReadonlyMap<string, StateText>,
): readonly StateOperation[] {
  return [...new Map(operations)].filter(([key, state]) => (before.get(key) ?? null) !== state);
}

/**
 * The one writer of states: changes of one environment in one transaction, each made on what the ones before it left. A
 * change is one revision, one row of the change log and one audit entry per flag, and pauses the plans of these flags. What was
 * decided is in the journals at once; {@link statements} write it, the last state of each flag.
 */
export class StateDraft {
  readonly #states: Map<string, StateText>;
  readonly #plans: Map<string, RolloutPlan>;
  readonly #at: number;
  readonly #stored = new Map<string, StoredState | null>();
  readonly #paused: Statement[] = [];
  #environment: Environment;

  /** Of changes made `at` that time, in epoch milliseconds. */
  constructor({ environment, before, plans }: StatePlace, at: number) {
    this.#environment = environment;
    this.#states = new Map(before);
    this.#plans = new Map(plans.map((plan) => [plan.flagKey, plan]));
    this.#at = at;
  }

  /** The environment after the changes so far. */
  get environment(): Environment {
    return this.#environment;
  }

  /** Makes one change. The plan with the id `byPlan`, which makes it, is not paused. Returns what changed, by flag key. */
  change(
    journal: Journal,
    operations: readonly StateOperation[],
    byPlan?: string,
  ): ReadonlyMap<string, StoredState | null> {
    const written = new Map<string, StoredState | null>();
    const changed = differing(operations, this.#states);
    if (changed.length === 0) return written;

    const revision = this.#environment.revision + 1;
    this.#environment = { ...this.#environment, revision };
    noteChange(journal, this.#environment, { changed, before: this.#states });

    const [updatedAt, updatedBy] = [this.#at, journal.actor];
    for (const [key, state] of changed) {
      const stored = state === null ? null : { flagKey: key, state, revision, updatedAt, updatedBy };
      written.set(key, stored);
      this.#stored.set(key, stored);
      if (state === null) {
        this.#states.delete(key);
      } else {
        this.#states.set(key, state);
        this.#pause(journal, key, byPlan);
      }
    }
    return written;
  }

  #pause(journal: Journal, key: string, byPlan: string | undefined): void {
    const plan = this.#plans.get(key);
    if (plan?.status !== 'running' || plan.id === byPlan) return;
    this.#plans.delete(key);
    this.#paused.push(pauseChanged(journal, plan, this.#at));
  }

  /** What writes it all; nothing when nothing changed. */
  *statements(): Generator<Statement> {
    if (this.#stored.size === 0) return;
    yield* storingStates(this.#environment, this.#stored);
    yield* this.#paused;
  }
}
