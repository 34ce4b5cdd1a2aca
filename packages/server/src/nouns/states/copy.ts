import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid } from '../../domain/errors.ts';
import type { Environment, StateOperation, StateText } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import {
  checkRevision,
  type ExpectedRevision,
  requireChangeOf,
  type Written,
  writeRecord,
} from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { readEnvironments } from '../environments/environment-table.ts';
import { readable } from '../flags/flags.ts';
import { lockAll } from '../locks.ts';
import { type EnvironmentPlace, environmentNamed, findProject } from '../lookup.ts';
import { changeStates } from './change-states.ts';
import { readStoredStates } from './state-table.ts';

/** A copy into the environment of the place. */
export interface CopyInput extends EnvironmentPlace {
  /** The environment to copy from. */
  readonly from: string;
  /** Only these flags; default: all. */
  readonly keys?: readonly string[];
  /** Whether to keep or delete flags that only the target has. */
  readonly extras: 'keep' | 'delete';
  /** Checked against the target's revision. */
  readonly expected: ExpectedRevision;
  /** Checked against the revision of `from`, so that only reviewed states are copied. Absent: not checked. */
  readonly fromRevision?: number;
  /** `preview` computes the result without writing it. */
  readonly mode: 'apply' | 'preview';
}

/** One state that a copy changes. */
export interface CopyStep {
  readonly key: string;
  readonly before?: StateText;
  readonly after?: StateText;
}

/** The result of a copy, or of its preview. */
export interface Copied {
  readonly environment: string;
  readonly revision: number;
  /** The revision of the environment that was copied from. */
  readonly fromRevision: number;
  /** Keys whose state changed; empty for a preview. */
  readonly changed: readonly string[];
  readonly differences: readonly CopyStep[];
}

/**
 * Copies the states of one environment to another, as one change: one revision, one frame. `invalid_argument`,
 * `project_not_found`, `environment_not_found`, `revision_conflict`, `forbidden`, `confirmation_required`.
 */
export function copyStates(
  context: ManagementContext,
  actor: Actor,
  input: CopyInput,
): Promise<Written<Copied>> {
  const places = { project: input.project, from: input.from, to: input.environment };

  if (input.mode === 'preview') {
    return context.store.read(async (db) => {
      const { from, to } = await findBoth(db, actor, places);
      const differences = await stepsOf(db, input, { from, to });
      const { revision } = to;
      return { environment: to.name, revision, fromRevision: from.revision, changed: [], differences };
    });
  }

  return writeRecord(context, actor, async (tx) => {
    const { from, to } = await lockBoth(tx, actor, places);
    const differences = await stepsOf(tx, input, { from, to });
    const operations = differences.map(({ key, after }): StateOperation => [key, after ?? null]);
    const { revision, changed } = await changeStates(tx, to, operations);
    return { environment: to.name, revision, fromRevision: from.revision, changed, differences };
  });
}

/** Locks both, so that the source cannot change or be deleted during the copy; a deleted one would read as empty. */
async function lockBoth(tx: Tx, actor: Actor, places: ComparedPlaces) {
  const { from, to } = await findBoth(tx, actor, places);
  const locked = await lockAll(tx, [from, to]);
  const target = environmentNamed(locked, to.name);
  requireChangeOf(actor, target);
  return { from: environmentNamed(locked, from.name), to: target };
}

async function stepsOf(
  db: Queryable,
  { keys, extras, expected, fromRevision }: CopyInput,
  environments: { readonly from: Environment; readonly to: Environment },
): Promise<readonly CopyStep[]> {
  checkRevision(expected, environments.to.revision);
  if (fromRevision !== undefined) checkRevision({ present: [fromRevision] }, environments.from.revision);

  const wanted = keys === undefined ? undefined : new Set(keys);
  const differences = await differencesOf(db, environments);
  return differences.flatMap(({ key, from: after, to: before }) => {
    if (wanted?.has(key) === false || (after === undefined && extras === 'keep')) return [];
    return defined({ key, before, after });
  });
}

/** Which two environments of a project to compare. */
export interface ComparedPlaces {
  readonly project: string;
  readonly from: string;
  readonly to: string;
}

/** A flag whose state differs in two environments; a member is absent where the flag has no state. */
export interface StateDifference {
  readonly key: string;
  readonly from?: StateText;
  readonly to?: StateText;
}

/** Two environments and their differences. */
export interface Comparison {
  readonly from: Environment;
  readonly to: Environment;
  /** By key. */
  readonly differences: readonly StateDifference[];
}

/** Compares the states of two environments. `invalid_argument`, `project_not_found`, `environment_not_found`. */
export function compareEnvironments(
  context: ManagementContext,
  actor: Actor,
  places: ComparedPlaces,
): Promise<Comparison> {
  return context.store.read(async (db) => {
    const { from, to } = await findBoth(db, actor, places);
    return { from, to, differences: await differencesOf(db, { from, to }) };
  });
}

/** The two environments, which must differ. `invalid_argument`, `project_not_found`, `environment_not_found`. */
async function findBoth(
  db: Queryable,
  actor: Actor,
  { project, from, to }: ComparedPlaces,
): Promise<{ readonly from: Environment; readonly to: Environment }> {
  if (from === to) throw invalid('Both environments are the same: name two.');
  const { id } = await findProject(db, actor, project);
  const environments = await readEnvironments(db, id);

  return { from: environmentNamed(environments, from), to: environmentNamed(environments, to) };
}

/** The states that differ between two environments, by key. */
async function differencesOf(
  db: Queryable,
  { from, to }: { readonly from: Environment; readonly to: Environment },
): Promise<readonly StateDifference[]> {
  const there = await statesOf(db, from);
  const here = await statesOf(db, to);

  const keys = [...new Set([...there.keys(), ...here.keys()])].sort();
  return keys.flatMap((key) => {
    const [source, target] = [there.get(key), here.get(key)];
    if (source === target) return [];
    return defined({ key, from: source, to: target });
  });
}

async function statesOf(db: Queryable, { id }: Environment): Promise<ReadonlyMap<string, StateText>> {
  return new Map(readable(await readStoredStates(db, id)).map(({ flagKey, state }) => [flagKey, state]));
}
