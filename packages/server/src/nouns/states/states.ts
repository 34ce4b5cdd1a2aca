import type { Actor } from '../../domain/audit.ts';
import { invalid, quote } from '../../domain/errors.ts';
import { stateParts } from '../../domain/flag-state-text.ts';
import { NO_NAMED_VALUES, namedValuesOf, nameOfStateValue } from '../../domain/named-values.ts';
import {
  type Environment,
  PLAIN_DETAILS,
  type StateOperation,
  type StateText,
  type StoredState,
} from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { checkFlagKey } from '../../management/rules.ts';
import {
  applied,
  checkRevision,
  type ExpectedRevision,
  requireChangeOf,
  type Written,
  writeDone,
  writeRecord,
} from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import type { FlagPage } from '../flags/flag-list.ts';
import { insertFlags, readFlag, readFlagsNamed } from '../flags/flag-table.ts';
import { readable } from '../flags/flags.ts';
import { lockPlace } from '../locks.ts';
import { type EnvironmentPlace, findEnvironment, flagArchived, flagNotFound } from '../lookup.ts';
import { changeStates } from './change-states.ts';
import { applyPatch, checkPatch, type StatePatch } from './state-patch.ts';
import { readStoredState, readStoredStates } from './state-table.ts';
import type { FoundState, StateWritten } from './state-writers.ts';

/** Which flag of which environment. */
export interface StatePlace extends EnvironmentPlace {
  readonly key: string;
}

/** Every state of an environment, by key. */
export interface EnvironmentStates {
  readonly environment: Environment;
  readonly states: readonly StoredState[];
  /** Where the next page begins when there is one. */
  readonly next?: FlagPage['after'];
}

/** The states of an environment, or a page of them, with its revision. `project_not_found`, `environment_not_found`. */
export function listStates(
  context: ManagementContext,
  actor: Actor,
  { page, ...place }: EnvironmentPlace & { readonly page?: FlagPage | undefined },
): Promise<EnvironmentStates> {
  return context.store.read(async (db) => {
    const environment = await findEnvironment(db, actor, place);
    const states = await readStoredStates(db, environment.id, page);
    if (page === undefined || states.length <= page.limit) return { environment, states: readable(states) };

    const shown = states.slice(0, page.limit);
    // Of the last one, also when it cannot be read.
    const last = shown.at(-1);
    return { environment, states: readable(shown), ...(last && { next: [last.flagKey] as const }) };
  });
}

/** A state with the name that its flag gives its value. */
export interface NamedState extends StoredState {
  readonly valueName: string | undefined;
}

/** One state. `project_not_found`, `environment_not_found`, `flag_not_found`. */
export function getState(context: ManagementContext, actor: Actor, place: StatePlace): Promise<NamedState> {
  return context.store.read(async (db) => {
    const environment = await findEnvironment(db, actor, place);
    const state = await readStoredState(db, environment.id, place.key);
    if (state === undefined || stateParts(state.state) === undefined) throw flagNotFound(place.key);

    const flag = await readFlag(db, environment.projectId, place.key);
    const values = namedValuesOf(flag?.namedValues ?? NO_NAMED_VALUES);
    return { ...state, valueName: nameOfStateValue(values, state.state) };
  });
}

/**
 * Replaces a whole state, creating the flag and the state if missing. `invalid_argument`, `revision_conflict`,
 * `flag_archived`.
 */
export function putState(
  context: ManagementContext,
  actor: Actor,
  input: StatePlace & { readonly state: StateText; readonly expected: ExpectedRevision },
): Promise<Written<StateWritten>> {
  return writeState(context, actor, { ...input, next: () => input.state });
}

/** Changes members of a state; a missing state starts as disabled. Errors as {@link putState}. */
export function patchState(
  context: ManagementContext,
  actor: Actor,
  input: StatePlace & { readonly patch: StatePatch; readonly expected: ExpectedRevision },
): Promise<Written<StateWritten>> {
  const { patch } = input;
  checkPatch(patch);
  return writeState(context, actor, { ...input, next: (current) => applyPatch(current, patch) });
}

/** Removes a flag's state from one environment; the flag stays. `flag_not_found`, `revision_conflict`. */
export function deleteState(
  context: ManagementContext,
  actor: Actor,
  input: StatePlace & { readonly expected: ExpectedRevision },
): Promise<Written<object>> {
  return writeDone(context, actor, async (tx) => {
    const environment = await lockPlace(tx, actor, input);
    const current = await readStoredState(tx, environment.id, input.key);
    checkRevision(input.expected, current?.revision);
    if (current === undefined) throw flagNotFound(input.key);
    await changeStates(tx, environment, [[input.key, null]]);
  });
}

/**
 * Creates the missing flags of states that are about to be written. `invalid_argument`,
 * `flag_archived`.
 */
export async function ensureFlags(
  context: ManagementContext,
  tx: Tx,
  { projectId, keys }: { readonly projectId: string; readonly keys: readonly string[] },
): Promise<void> {
  const known = await readFlagsNamed(tx, projectId, keys);
  for (const key of keys) if (known.get(key)?.archivedAt !== undefined) throw flagArchived(key);

  const missing = keys.filter((key) => !known.has(key));
  for (const key of missing) checkFlagKey(key);

  const createdAt = context.now();
  await insertFlags(
    tx,
    missing.map((key) => ({ ...PLAIN_DETAILS, projectId, key, createdAt })),
  );
}

/** Refuses keys without a flag in use in the project. `flag_not_found`, `flag_archived`. */
export async function requireFlags(
  db: Queryable,
  { projectId, keys }: { readonly projectId: string; readonly keys: readonly string[] },
): Promise<void> {
  const known = await readFlagsNamed(db, projectId, keys);
  for (const key of keys) {
    const flag = known.get(key);
    if (flag === undefined) throw flagNotFound(key);
    if (flag.archivedAt !== undefined) throw flagArchived(key);
  }
}

interface NextState extends StatePlace {
  readonly next: (current: StateText | undefined) => StateText;
  readonly expected: ExpectedRevision;
}

/** Writes one state, with the next group of writers of its environment. */
async function writeState(
  context: ManagementContext,
  actor: Actor,
  { next, expected, ...place }: NextState,
): Promise<Written<StateWritten>> {
  const { key } = place;
  const decide = ({ environment, flag, state }: FoundState): StateText => {
    requireChangeOf(actor, environment);
    checkRevision(expected, state?.revision);
    const text = next(state?.state);
    if (flag?.archivedAt !== undefined) throw flagArchived(key);
    if (flag === undefined) checkFlagKey(key);
    return text;
  };

  // A group is no place for an approval, which ends the transaction of one operation.
  if (actor.approval !== undefined) return writeAlone(context, actor, { ...place, decide });

  const write = { ...place, actor, next: decide };
  const { result, seq } = await applied(context, () => context.stateWriters.add(write));
  return seq === undefined ? result : { ...result, seq };
}

/** Writes one state in its own transaction. */
function writeAlone(
  context: ManagementContext,
  actor: Actor,
  { key, decide, ...place }: StatePlace & { readonly decide: (found: FoundState) => StateText },
): Promise<Written<StateWritten>> {
  return writeRecord(context, actor, async (tx) => {
    const environment = await lockPlace(tx, actor, place);
    const { projectId } = environment;
    const flag = await readFlag(tx, projectId, key);
    const known = await readStoredState(tx, environment.id, key);
    const state = decide({ environment, flag, state: known });

    await ensureFlags(context, tx, { projectId, keys: [key] });
    const { revision, changed } = await changeStates(tx, environment, [[key, state]]);
    const isChanged = changed.length > 0;
    const stored = { flagKey: key, state, revision, updatedAt: tx.now(), updatedBy: actor.name };
    return {
      stored: isChanged || known === undefined ? stored : known,
      ...(isChanged && known !== undefined && { before: known.state }),
      changed: isChanged,
      environmentRevision: revision,
    };
  });
}

/** Several states of one environment, written together. */
export interface Change extends EnvironmentPlace {
  readonly operations: readonly StateOperation[];
  /** Checked against the environment's revision. */
  readonly expected: ExpectedRevision;
}

/** The result of a change. */
export interface ChangeWritten {
  readonly environment: string;
  readonly revision: number;
  /** Keys whose state changed. */
  readonly changed: readonly string[];
}

/**
 * Writes several states as one change: one revision, one frame, all or nothing. Missing flags are created.
 * `invalid_argument`, `project_not_found`, `environment_not_found`, `revision_conflict`, `flag_archived`.
 */
export function applyChange(
  context: ManagementContext,
  actor: Actor,
  change: Change,
): Promise<Written<ChangeWritten>> {
  checkOperations(change.operations);
  return writeRecord(context, actor, async (tx) => {
    const environment = await lockPlace(tx, actor, change);
    checkRevision(change.expected, environment.revision);
    const keys = change.operations.flatMap(([key, state]) => (state === null ? [] : [key]));
    await ensureFlags(context, tx, { projectId: environment.projectId, keys });
    const { revision, changed } = await changeStates(tx, environment, change.operations);
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
