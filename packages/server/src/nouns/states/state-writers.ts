import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import {
  environmentNotFound,
  projectNotFound,
  StorageError,
  StoreBusy,
  StoreOutage,
} from '../../domain/errors.ts';
import {
  type Environment,
  type Flag,
  PLAIN_DETAILS,
  type StateText,
  type StoredState,
} from '../../domain/project.ts';
import { CommitUncertainError, checkTexts } from '../../storage/database.ts';
import type { Journal } from '../../storage/journal.ts';
import type { EnvironmentNames } from '../../storage/places.ts';
import type { Committed, Store } from '../../storage/store.ts';
import type { GroupTx } from '../../storage/tx.ts';
import { type EnvironmentRow, lockingEnvironment, toEnvironment } from '../environments/environment-table.ts';
import { insertingFlags, noteCreated, selectFlags } from '../flags/flag-table.ts';
import { selectProject } from '../projects/project-table.ts';
import type { RolloutPlan } from '../rollouts/rollout-plan.ts';
import { type RolloutRow, selectOpenPlans, toPlan } from '../rollouts/rollout-table.ts';
import { StateDraft } from './state-draft.ts';
import { selectStates } from './state-table.ts';

/** A change to the state of one flag in one environment. */
export interface StateWrite extends EnvironmentNames {
  readonly actor: Actor;
  readonly key: string;
  /**
   * Decides on the new state, or refuses by throwing. Called under the environment's lock, and again when the
   * transaction is run again: without effects.
   */
  readonly next: (found: FoundState) => StateText;
}

/** What a {@link StateWrite} finds. */
export interface FoundState {
  readonly environment: Environment;
  /** The flag; created with the state when it does not exist. */
  readonly flag: Pick<Flag, 'archivedAt'> | undefined;
  readonly state: StoredState | undefined;
}

/** The result of a {@link StateWrite}. */
export interface StateWritten {
  readonly stored: StoredState;
  /** What the state was before; absent where there was none, and where nothing has changed. */
  readonly before?: StateText;
  /** Whether the state changed; writing the same state is not a change. */
  readonly changed: boolean;
  readonly environmentRevision: number;
}

/** Limits of one group: the next writers are in the next group. */
const GROUP = { writers: 64, characters: 1024 * 1024 } as const;

/** Writers of one lane that wait at most; more are refused as busy. */
const MAX_WAITING = 1000;

/** What a write transaction locks: its environment, or the whole database. */
export type LockedBy = 'environment' | 'database';

/** What locks on the engine of these settings: SQLite has one lock, PostgreSQL one for each row. */
export function lockOf({ databaseUrl }: { readonly databaseUrl?: string }): LockedBy {
  return databaseUrl === undefined ? 'database' : 'environment';
}

/** One writer, and how it learns of its outcome. */
interface Writer extends PromiseWithResolvers<Committed<StateWritten>> {
  readonly write: StateWrite;
}

/** Writers that wait for the same lock, in the order in which they came. */
interface Lane {
  readonly waiting: Writer[];
  /** How many of them are written alone, because a group with them failed. */
  alone: number;
}

/** A writer's part in a group: its result with the journal of its change, if there was one, or its refusal. */
type Outcome = { readonly result: StateWritten; readonly journal?: Journal } | { readonly refusal: unknown };

/**
 * Commits changes of single states in groups: writers that would wait for each other's lock anyway share a transaction. Those
 * are the writers of one environment, and on SQLite all of them. It reads what the writers of an environment need in one
 * round trip, lets them decide one after the other, each on what the one before it left, and writes all changes with the
 * last. A writer that refuses has written nothing, so a group needs no savepoints. A group takes only writers that are ready,
 * so it never waits for a request.
 */
export class StateWriters {
  readonly #store: Pick<Store, 'commitGroup'>;
  readonly #lockedBy: LockedBy;
  readonly #lanes = new Map<string, Lane>();

  constructor(store: Pick<Store, 'commitGroup'>, lockedBy: LockedBy) {
    this.#store = store;
    this.#lockedBy = lockedBy;
  }

  /**
   * Writes with the next group of the lane. Settles after the commit, with the refusal of `next` as well: what it was
   * shown is true then. Rejects as {@link Store.commit} does, and with `project_not_found`, `environment_not_found`, and what
   * `next` throws.
   */
  async add(write: StateWrite): Promise<Committed<StateWritten>> {
    const { project, environment, key, actor } = write;
    // Here, so that a text that cannot be stored fails only its own writer.
    checkTexts([project, environment, key, actor.name, actor.ip ?? null, actor.note ?? null]);

    const name = this.#lockedBy === 'database' ? '' : nameOf(write);
    const known = this.#lanes.get(name);
    const lane = known ?? { waiting: [], alone: 0 };
    if (lane.waiting.length >= MAX_WAITING)
      throw new StoreBusy(`too many writers wait for this ${this.#lockedBy}`);

    const writer = { write, ...Promise.withResolvers<Committed<StateWritten>>() };
    lane.waiting.push(writer);
    if (known === undefined) {
      this.#lanes.set(name, lane);
      void this.#work(name, lane);
    }
    return writer.promise;
  }

  async #work(name: string, lane: Lane): Promise<void> {
    while (lane.waiting.length > 0) {
      await gathered(lane);
      await this.#commitGroup(lane);
    }
    this.#lanes.delete(name);
  }

  async #commitGroup(lane: Lane): Promise<void> {
    let group: readonly Writer[] | undefined;
    try {
      const { result, seqs } = await this.#store.commitGroup(async (tx) => {
        // Late, so that those that came while this one waited for the database are with it.
        group ??= lane.waiting.splice(0, lane.alone > 0 ? 1 : GROUP.writers);

        const outcomes = await decideAll(tx, group);
        const journals = outcomes.flatMap((o) =>
          'journal' in o && o.journal !== undefined ? [o.journal] : [],
        );
        // Also of those that change nothing: their answer shows the state.
        const authors = group.slice(0, outcomes.length).map(({ write }) => write.actor);
        return { result: outcomes, authors, journals };
      });

      settle(group ?? [], result, seqs);
      lane.waiting.unshift(...(group ?? []).slice(result.length));
      lane.alone = Math.max(0, lane.alone - 1);
    } catch (error) {
      const isOutage = group === undefined || error instanceof StoreOutage;
      // Without the database, those that wait would fail as well, one group after the other.
      this.#fail(lane, [...(group ?? []), ...(isOutage ? lane.waiting.splice(0) : [])], {
        error,
        isCommon: isOutage || COMMON_FAILURES.some((common) => error instanceof common),
      });
    }
  }

  /** What may be one writer's fault fails that one alone: the writers of the group are written one by one. */
  #fail(
    lane: Lane,
    group: readonly Writer[],
    { error, isCommon }: { readonly error: unknown; readonly isCommon: boolean },
  ): void {
    if (group.length > 1 && !isCommon) {
      lane.waiting.unshift(...group);
      lane.alone = group.length;
      return;
    }
    for (const writer of group) writer.reject(error);
    lane.alone = Math.max(0, lane.alone - 1);
  }
}

/**
 * Waits until a turn of the event loop has brought no further writer: management requests begin one in each turn, so
 * those that arrived together are one group. A lone writer waits for one turn.
 */
async function gathered({ waiting }: Lane): Promise<void> {
  for (let before = 0; before < waiting.length && waiting.length < GROUP.writers; ) {
    before = waiting.length;
    await new Promise(setImmediate);
  }
}

/** Failures of all writers of a group. After the last one, they may even have been committed. */
const COMMON_FAILURES = [StoreBusy, StorageError, CommitUncertainError] as const;

function settle(group: readonly Writer[], outcomes: readonly Outcome[], seqs: readonly number[]): void {
  const rest = seqs[Symbol.iterator]();
  for (const [index, outcome] of outcomes.entries()) {
    const writer = group[index];
    if ('refusal' in outcome) writer?.reject(outcome.refusal);
    else if (outcome.journal === undefined) writer?.resolve({ result: outcome.result });
    // `number`: the log has a `seq` for each journal.
    else writer?.resolve({ result: outcome.result, seq: rest.next().value as number });
  }
}

/** The outcomes of the first writers of the group, as many as its limits allow; at least one. */
async function decideAll(tx: GroupTx, group: readonly Writer[]): Promise<readonly Outcome[]> {
  const places = new Map<string, GroupDraft | Error>();
  const outcomes: Outcome[] = [];
  let characters = 0;

  for (const { write } of group) {
    if (characters > GROUP.characters) break;
    const name = nameOf(write);
    const place = places.get(name) ?? (await openPlace(tx, write, group));
    places.set(name, place);

    try {
      if (place instanceof Error) throw place;
      const before = place.characters;
      outcomes.push(place.apply(write, tx.journalOf(write.actor)));
      characters += place.characters - before;
    } catch (refusal) {
      outcomes.push({ refusal });
    }
  }

  for (const place of places.values())
    if (place instanceof GroupDraft) for (const statement of place.statements()) tx.sql.atCommit(statement);
  return outcomes;
}

/** Locks the environment of a write and reads what the group needs of it; the refusal where it does not exist. */
async function openPlace(tx: GroupTx, names: EnvironmentNames, group: readonly Writer[]) {
  const name = nameOf(names);
  const keys = new Set(group.filter(({ write }) => nameOf(write) === name).map(({ write }) => write.key));
  const found = await lockAndRead(tx, names, [...keys]);
  return found === undefined ? await missing(tx, names) : new GroupDraft(found, tx.now());
}

function nameOf({ project, environment }: EnvironmentNames): string {
  return JSON.stringify([project, environment]);
}

/** The changes of a group in one environment, with the flags that they create. */
class GroupDraft {
  readonly #draft: StateDraft;
  readonly #flags: Found['flags'];
  readonly #states: Found['states'];
  readonly #newFlags: string[] = [];
  readonly #at: number;
  #characters = 0;

  constructor({ environment, flags, states, plans }: Found, at: number) {
    const before = new Map([...states].map(([key, { state }]) => [key, state]));
    this.#draft = new StateDraft({ environment, before, plans }, at);
    this.#flags = flags;
    this.#states = states;
    this.#at = at;
  }

  /** How much the changes so far write. */
  get characters(): number {
    return this.#characters;
  }

  /** Lets the writer decide, and records the change in its journal. Throws its refusal; nothing is changed then. */
  apply({ key, next }: StateWrite, journal: Journal): Outcome {
    const { environment } = this.#draft;
    const before = this.#states.get(key);

    const state = next({ environment, flag: this.#flags.get(key), state: before });
    checkTexts([state]);

    if (!this.#flags.has(key)) {
      this.#newFlags.push(key);
      this.#flags.set(key, {});
      noteCreated(journal, { ...PLAIN_DETAILS, projectId: environment.projectId, key });
    }
    const stored = this.#draft.change(journal, [[key, state]]).get(key);
    const environmentRevision = this.#draft.environment.revision;
    // `StoredState`: a flag that is left as it is has a state.
    if (!stored) return { result: { stored: before as StoredState, changed: false, environmentRevision } };

    this.#states.set(key, stored);
    this.#characters += 2 * state.length + (before?.state.length ?? 0);
    const replaced = defined({ before: before?.state });
    return { result: { stored, ...replaced, changed: true, environmentRevision }, journal };
  }

  /** What writes it all. */
  *statements() {
    const { projectId } = this.#draft.environment;
    const flags = this.#newFlags.map((key) => ({ ...PLAIN_DETAILS, projectId, key, createdAt: this.#at }));
    yield* insertingFlags(flags);
    yield* this.#draft.statements();
  }
}

/** An environment under its lock, with what the writers of a group need of it. */
interface Found {
  readonly environment: Environment;
  /** By key, as {@link FoundState} has them. */
  readonly flags: Map<string, FoundState['flag'] & object>;
  readonly states: Map<string, StoredState>;
  readonly plans: readonly RolloutPlan[];
}

/** Keys of one group, in few sizes, so that a statement that was prepared can be used again. */
const KEY_COUNTS = [1, 2, 4, 8, 16, 32, GROUP.writers] as const;

/** Locks the environment and reads what its writers need, in one round trip. The reads run after the lock, so they stay true. */
async function lockAndRead(
  { sql }: GroupTx,
  names: EnvironmentNames,
  keys: readonly string[],
): Promise<Found | undefined> {
  const count = KEY_COUNTS.find((size) => size >= keys.length) ?? keys.length;
  const padded = Array.from({ length: count }, (_, index) => keys[index] ?? keys[0] ?? '');

  const [environments = [], flags = [], states = [], plans = []] = (await sql.batch([
    lockingEnvironment(names),
    selectFlags(names.project, padded),
    selectStates(names, padded),
    selectOpenPlans(names, padded),
    // The columns of the statements, in their order.
  ])) as [EnvironmentRow[]?, { key: string; archivedAt: number | null }[]?, StoredState[]?, RolloutRow[]?];

  const [row] = environments;
  if (row === undefined) return undefined;
  return {
    environment: toEnvironment(row),
    flags: new Map(flags.map(({ key, archivedAt }) => [key, archivedAt === null ? {} : { archivedAt }])),
    states: new Map(states.map((state) => [state.flagKey, state])),
    plans: plans.map(toPlan),
  };
}

async function missing({ sql }: GroupTx, { project, environment }: EnvironmentNames): Promise<Error> {
  const [found = []] = await sql.batch([selectProject(project)]);
  return found.length === 0 ? projectNotFound(project) : environmentNotFound(environment);
}
