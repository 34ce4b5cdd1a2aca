import type { Actor } from '../../domain/audit.ts';
import { invalid, RightsChanged, ServiceError } from '../../domain/errors.ts';
import { stateParts } from '../../domain/flag-state-text.ts';
import type { Environment, Flag, StateText } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { requireChangeOf, type Written, writeRecord } from '../../management/write.ts';
import type { Tx } from '../../storage/tx.ts';
import { interruptFlag } from '../interruptions.ts';
import { lockWholeProject } from '../locks.ts';
import { findFlag, findProject } from '../lookup.ts';
import { changeStates } from '../states/change-states.ts';
import { readStoredState } from '../states/state-table.ts';
import { readArchivedStates, storeArchived, storeRestored } from './flag-table.ts';
import { type FlagPlace, type FlagWithStates, withStates } from './flags.ts';

/** Most flags that one request archives. */
export const MAX_BULK = 1000;

/** The result for one of several flags. */
export type ArchiveOutcome = { readonly key: string } & (
  | { readonly archived: true; readonly seq?: number }
  | { readonly refusal: ServiceError }
);

/** An archived or restored flag, with its project's environments. */
interface FlagInProject {
  readonly flag: Flag;
  /** Every environment of the project, locked. */
  readonly environments: readonly Environment[];
}

/**
 * Archives a flag: removes its states, as one change in each environment that has one, and keeps them.
 * Archiving it again changes nothing. `flag_not_found`, `forbidden`, `confirmation_required`.
 */
export function archiveFlag(
  context: ManagementContext,
  actor: Actor,
  place: FlagPlace,
): Promise<Written<FlagWithStates>> {
  return writeRecord(context, actor, async (tx) => {
    const found = await lockFlag(tx, actor, place);
    if (found.flag.archivedAt === undefined) await archiveLocked(context, actor, tx, found);
    return withStates(tx, await findFlag(tx, found.flag.projectId, place.key));
  });
}

/**
 * Restores an archived flag with its states, where their environments still exist. Restoring a
 * flag that is in use changes nothing. `flag_not_found`, `forbidden`, `confirmation_required`.
 */
export function restoreFlag(
  context: ManagementContext,
  actor: Actor,
  place: FlagPlace,
): Promise<Written<FlagWithStates>> {
  return writeRecord(context, actor, async (tx) => {
    const found = await lockFlag(tx, actor, place);
    if (found.flag.archivedAt !== undefined) await restoreLocked(actor, tx, found);
    return withStates(tx, await findFlag(tx, found.flag.projectId, place.key));
  });
}

/**
 * Archives flags one by one; a refusal of one does not stop the others. When something fails
 * after some are archived, the rest are refused, so that the caller knows which were archived.
 */
export async function archiveFlags(
  context: ManagementContext,
  actor: Actor,
  { project, keys }: { readonly project: string; readonly keys: readonly string[] },
): Promise<readonly ArchiveOutcome[]> {
  if (keys.length === 0 || keys.length > MAX_BULK) {
    throw invalid(`"keys" has ${keys.length} entries: name 1 to ${MAX_BULK} flags.`);
  }
  await context.store.read((db) => findProject(db, actor, project));

  const outcomes: ArchiveOutcome[] = [];

  for (const key of new Set(keys)) {
    try {
      const { seq } = await archiveFlag(context, actor, { project, key });
      outcomes.push({ key, archived: true, ...(seq === undefined ? {} : { seq }) });
    } catch (error) {
      const isChanged = error instanceof RightsChanged;
      if (error instanceof ServiceError && error.code !== 'internal_error' && !isChanged) {
        outcomes.push({ key, refusal: error });
        continue;
      }

      if (!outcomes.some((outcome) => 'archived' in outcome)) throw error;

      const message = 'The server could not archive this flag and those after it; try again shortly.';
      const refusal = isChanged ? error : new ServiceError('internal_error', message, { cause: error });
      const left = new Set(keys).difference(new Set(outcomes.map((outcome) => outcome.key)));
      return [...outcomes, ...[...left].map((each) => ({ key: each, refusal }))];
    }
  }

  return outcomes;
}

/** Archives a flag whose project is locked: removes its states and keeps them with the flag. */
export async function archiveLocked(
  context: ManagementContext,
  actor: Actor,
  tx: Tx,
  { flag, environments }: FlagInProject,
): Promise<void> {
  await interruptFlag(tx, flag, 'archived');

  const states = new Map<string, StateText>();
  for (const environment of environments) {
    const stored = await readStoredState(tx, environment.id, flag.key);
    if (stored === undefined) continue;
    requireChangeOf(actor, environment);
    // A damaged record counts as absent: it is removed and not kept.
    if (stateParts(stored.state) !== undefined) states.set(environment.id, stored.state);
    await changeStates(tx, environment, [[flag.key, null]]);
  }

  await storeArchived(tx, flag, { at: context.now(), states });
}

/** Restores an archived flag whose project is locked, with its states where their environments still exist. */
export async function restoreLocked(
  actor: Actor,
  tx: Tx,
  { flag, environments }: FlagInProject,
): Promise<void> {
  const states = await readArchivedStates(tx, flag);
  await storeRestored(tx, flag);

  for (const environment of environments) {
    const state = states.get(environment.id);
    if (state === undefined || stateParts(state) === undefined) continue;
    if ((await readStoredState(tx, environment.id, flag.key)) !== undefined) continue;
    requireChangeOf(actor, environment);
    await changeStates(tx, environment, [[flag.key, state]]);
  }
}

async function lockFlag(tx: Tx, actor: Actor, place: FlagPlace): Promise<FlagInProject> {
  const project = await findProject(tx, actor, place.project);
  const environments = await lockWholeProject(tx, project.id);
  return { flag: await findFlag(tx, project.id, place.key), environments };
}
