import {
  environmentNotFound,
  projectNotFound,
  StorageError,
  StoreBusy,
  StoreOutage,
} from '../domain/errors.ts';
import { type Environment, PLAIN_DETAILS, type StoredState } from '../domain/project.ts';
import { CHANGED_OUTSIDE, type RolloutPlan } from '../domain/rollout-plan.ts';
import type { Committed, FoundState, StateWrite, StateWritten } from '../domain/store.ts';
import { AuthorCheck } from './author-check.ts';
import { CommitUncertainError, checkTexts, type Statement, type WriteTransaction } from './database.ts';
import { Journal, type Sources } from './journal.ts';
import { ENVIRONMENT_COLUMNS, type EnvironmentRow, STATE_COLUMNS, toEnvironment } from './reader.ts';
import { FLAG_INSERT, flagCreated, newFlagRow } from './record-writer.ts';
import { moveEntry, moveStatement, pauseBy, type RolloutRow, SELECT_PLANS, toPlan } from './rollout-table.ts';
import { insertions, placeholders } from './rows.ts';
import type { Done, Work } from './store.ts';
import { STATE_INSERT } from './transaction.ts';

/** Limits of one group: the next writers are in the next group. */
const GROUP = { writers: 64, characters: 1024 * 1024 } as const;

/** Writers of one environment that wait at most; more are refused as busy. */
const MAX_WAITING = 1000;

/** One writer, and how it learns of its outcome. */
interface Writer extends PromiseWithResolvers<Committed<StateWritten>> {
  readonly write: StateWrite;
}

/** The writers of one environment, in the order in which they came. */
interface Lane {
  readonly project: string;
  readonly environment: string;
  readonly waiting: Writer[];
  /** How many of them are written alone, because a group with them failed. */
  alone: number;
}

/** A writer's part in a group: its result with the journal of its change, if there was one, or its refusal. */
type Outcome = { readonly result: StateWritten; readonly journal?: Journal } | { readonly refusal: unknown };

/** Runs work in one transaction, as the store does. */
type RunTransaction = <T>(work: (transaction: WriteTransaction) => Promise<Work<T>>) => Promise<Done<T>>;

/**
 * Commits changes of single states in groups: writers of one environment, which would wait for each other's lock anyway,
 * share a transaction. It reads what all of them need in one round trip, lets them decide one after the other, each on
 * what the one before it left, and writes all changes with the second. A writer that refuses has written nothing, so a group
 * needs no savepoints. A group takes only writers that are ready, so it never waits for a request.
 */
export class StateWriters {
  readonly #run: RunTransaction;
  readonly #sources: Sources;
  readonly #lanes = new Map<string, Lane>();

  constructor(run: RunTransaction, sources: Sources) {
    this.#run = run;
    this.#sources = sources;
  }

  /** Writes with the next group of the environment. Settles once that has committed. */
  async add(write: StateWrite): Promise<Committed<StateWritten>> {
    const { project, environment, key, actor } = write;
    // Here, so that a text that cannot be stored fails only its own writer.
    checkTexts([project, environment, key, actor.name, actor.ip ?? null, actor.note ?? null]);
    const name = JSON.stringify([project, environment]);
    const known = this.#lanes.get(name);
    const lane = known ?? { project, environment, waiting: [], alone: 0 };
    if (lane.waiting.length >= MAX_WAITING) throw new StoreBusy('too many writers wait for this environment');
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
      const { result, seqs } = await this.#run(async (transaction) => {
        // Late, so that those that came while this one waited for the database are with it.
        group ??= lane.waiting.splice(0, lane.alone > 0 ? 1 : GROUP.writers);
        const outcomes = await this.#decideAll(transaction, lane, group);
        const journals = outcomes.flatMap((o) =>
          'journal' in o && o.journal !== undefined ? [o.journal] : [],
        );
        // Also of those that change nothing: their answer shows the state.
        const authors = group.slice(0, outcomes.length).map(({ write }) => write.actor);
        return { result: outcomes, author: new AuthorCheck(authors, this.#sources.now), journals };
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

  /** The outcomes of the first writers of the group, as many as its limits allow; at least one. */
  async #decideAll(
    transaction: WriteTransaction,
    lane: Lane,
    group: readonly Writer[],
  ): Promise<readonly Outcome[]> {
    const place = await lockPlace(transaction, lane, [...new Set(group.map(({ write }) => write.key))]);
    if (place === undefined) {
      const refusal = await missing(transaction, lane);
      return group.map(() => ({ refusal }));
    }
    const { now } = this.#sources;
    const draft = new Draft(place, now());
    const outcomes: Outcome[] = [];
    for (const { write } of group) {
      if (draft.characters > GROUP.characters) break;
      try {
        outcomes.push(draft.apply(write, new Journal(write.actor, this.#sources)));
      } catch (refusal) {
        outcomes.push({ refusal });
      }
    }
    for (const statement of draft.statements()) transaction.atCommit(statement);
    return outcomes;
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

/** An environment under its lock, with what the writers of a group need of it, by flag key. */
interface Place {
  readonly environment: Environment;
  readonly flags: Map<string, FoundState['flag'] & object>;
  readonly states: Map<string, StoredState>;
  /** The running rollout plans of its flags. */
  readonly plans: Map<string, RolloutPlan>;
}

/** The changes of a group, each made on what the ones before it left. */
class Draft {
  readonly #flags: Place['flags'];
  readonly #states: Place['states'];
  readonly #at: number;
  readonly #plans: Place['plans'];
  readonly #paused: Statement[] = [];
  readonly #newFlags = new Set<string>();
  readonly #changed = new Set<string>();
  readonly #projectId: string;
  #environment: Environment;
  #characters = 0;

  constructor({ environment, flags, states, plans }: Place, at: number) {
    this.#environment = environment;
    this.#projectId = environment.projectId;
    this.#flags = flags;
    this.#states = states;
    this.#plans = plans;
    this.#at = at;
  }

  /** How much the changes so far write. */
  get characters(): number {
    return this.#characters;
  }

  /** Lets the writer decide, and records the change in its journal. Throws its refusal; nothing is changed then. */
  apply({ key, actor, next }: StateWrite, journal: Journal): Outcome {
    const environment = this.#environment;
    const before = this.#states.get(key);
    const state = next({ environment, flag: this.#flags.get(key), state: before });
    checkTexts([state]);
    if (before?.state === state)
      return { result: { stored: before, changed: false, environmentRevision: environment.revision } };
    const { id: environmentId, projectId } = environment;
    const revision = environment.revision + 1;
    const stored = { flagKey: key, state, revision, updatedAt: this.#at, updatedBy: actor.name };
    if (!this.#flags.has(key)) {
      this.#newFlags.add(key);
      this.#flags.set(key, {});
      journal.audit(flagCreated({ ...PLAIN_DETAILS, projectId, key }));
    }
    journal.change({ kind: 'flags.changed', projectId, environmentId, revision, payload: [[key, state]] }, [
      {
        ...{ action: 'flag.changed', projectId, environmentId, target: key },
        ...(before !== undefined && { before: before.state }),
        after: state,
      },
    ]);
    this.#pausePlan(key, journal);
    this.#environment = { ...environment, revision };
    this.#states.set(key, stored);
    this.#changed.add(key);
    this.#characters += 2 * state.length + (before?.state.length ?? 0);
    return { result: { stored, changed: true, environmentRevision: revision }, journal };
  }

  /** The flag was changed, and not by its plan. */
  #pausePlan(key: string, journal: Journal): void {
    const plan = this.#plans.get(key);
    if (plan === undefined) return;
    this.#plans.delete(key);
    const next = pauseBy(journal.actor, { at: this.#at, reason: CHANGED_OUTSIDE });
    journal.audit(moveEntry(plan, next, { action: 'rollout.paused' }));
    this.#paused.push(moveStatement(plan, next));
  }

  /** What writes it all: the last state of each flag. */
  *statements(): Generator<Statement> {
    if (this.#changed.size === 0) return;
    const { id, revision } = this.#environment;
    const projectId = this.#projectId;
    yield { text: SET_REVISION, parameters: [revision, id] };
    // In one order, so that groups of two environments do not wait for each other's flags.
    const flags = [...this.#newFlags]
      .sort()
      .map((key) => newFlagRow({ ...PLAIN_DETAILS, projectId, key, createdAt: this.#at }));
    yield* insertions(FLAG_INSERT, flags);
    const states = [...this.#changed].flatMap((key) => {
      const stored = this.#states.get(key);
      if (stored === undefined) return [];
      const { state, updatedAt, updatedBy } = stored;
      return [[id, key, projectId, state, stored.revision, updatedAt, updatedBy]];
    });
    yield* insertions(STATE_INSERT, states);
    yield* this.#paused;
  }
}

const SET_REVISION = 'UPDATE environments SET revision = $1 WHERE id = $2';

const PROJECT_ID = '(SELECT id FROM projects WHERE name = $1)';

const THIS_ENVIRONMENT = `deleted_at IS NULL AND name = $2 AND project_id = ${PROJECT_ID}`;

// An UPDATE locks the row in either engine, and returns it as it is once the lock is held.
const LOCK = `UPDATE environments SET revision = revision WHERE ${THIS_ENVIRONMENT} RETURNING ${ENVIRONMENT_COLUMNS}`;

/** Keys of one group, in few sizes, so that a statement that was prepared can be used again. */
const KEY_COUNTS = [1, 2, 4, 8, 16, 32, GROUP.writers] as const;

/** Locks the environment and reads what its writers need. The reads run after the lock, so they stay true. */
async function lockPlace(
  transaction: WriteTransaction,
  { project, environment }: Lane,
  keys: readonly string[],
): Promise<Place | undefined> {
  const count = KEY_COUNTS.find((size) => size >= keys.length) ?? keys.length;
  const padded = Array.from({ length: count }, (_, index) => keys[index] ?? keys[0] ?? '');
  const [environments = [], flags = [], states = [], plans = []] = (await transaction.batch([
    { text: LOCK, parameters: [project, environment] },
    {
      text: `SELECT key, archived_at AS "archivedAt" FROM flags
        WHERE project_id = ${PROJECT_ID} AND key IN (${placeholders(count, 1)})`,
      parameters: [project, ...padded],
    },
    {
      text: `SELECT ${STATE_COLUMNS} FROM flag_states
        WHERE environment_id = (SELECT id FROM environments WHERE ${THIS_ENVIRONMENT})
          AND flag_key IN (${placeholders(count, 2)})`,
      parameters: [project, environment, ...padded],
    },
    {
      text: `${SELECT_PLANS} WHERE status = 'running'
        AND environment_id = (SELECT id FROM environments WHERE ${THIS_ENVIRONMENT})
        AND open_flag IN (${placeholders(count, 2)})`,
      parameters: [project, environment, ...padded],
    },
    // The columns of the statements, in their order.
  ])) as [EnvironmentRow[]?, { key: string; archivedAt: number | null }[]?, StoredState[]?, RolloutRow[]?];
  const [row] = environments;
  if (row === undefined) return undefined;
  return {
    environment: toEnvironment(row),
    flags: new Map(flags.map(({ key, archivedAt }) => [key, archivedAt === null ? {} : { archivedAt }])),
    states: new Map(states.map((state) => [state.flagKey, state])),
    plans: new Map(plans.map((row) => [row.flagKey, toPlan(row)])),
  };
}

async function missing(transaction: WriteTransaction, { project, environment }: Lane): Promise<Error> {
  const found = await transaction.query('SELECT id FROM projects WHERE name = $1', [project]);
  return found.length === 0 ? projectNotFound(project) : environmentNotFound(environment);
}
