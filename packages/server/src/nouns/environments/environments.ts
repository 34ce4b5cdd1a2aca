import { DEFAULT_ENVIRONMENTS } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { environmentNotFound, invalid, quote } from '../../domain/errors.ts';
import { type Environment, PLAIN_APPEARANCE } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { mayChangeProtected } from '../../management/rights.ts';
import { checkName } from '../../management/rules.ts';
import { requireChangeOf, type Written, writeDone, writeRecord } from '../../management/write.ts';
import type { Tx } from '../../storage/tx.ts';
import { interruptRemoved } from '../interruptions.ts';
import { lockPlace } from '../locks.ts';
import { type EnvironmentPlace, findEnvironment, findProject } from '../lookup.ts';
import { permissionsOf } from '../people/grants.ts';
import type { Operator } from '../people/operator.ts';
import { readOperators } from '../people/operator-table.ts';
import { lockProject } from '../projects/project-table.ts';
import {
  insertEnvironment,
  lockEnvironment,
  readEnvironments,
  removeEnvironment,
  storeAppearance,
} from './environment-table.ts';

/** Production is protected from the start, because a slip there hurts most. */
const DEFAULT_APPEARANCE = {
  development: { color: 'green', protected: false },
  staging: { color: 'amber', protected: false },
  production: { color: 'red', protected: true },
} as const;

/** The appearance of a new environment of that name. */
export function defaultAppearance(name: string): Pick<Environment, 'protected' | 'color'> {
  const known = DEFAULT_ENVIRONMENTS.find((one) => one === name);
  const { protected: isProtected, color } =
    known === undefined ? PLAIN_APPEARANCE : DEFAULT_APPEARANCE[known];
  return { protected: isProtected, color };
}

/** The environments of a project, by position and then by name. `project_not_found`. */
export function listEnvironments(
  context: ManagementContext,
  actor: Actor,
  project: string,
): Promise<readonly Environment[]> {
  return context.store.read(async (db) => readEnvironments(db, (await findProject(db, actor, project)).id));
}

/**
 * Creates an empty environment. Its appearance defaults to the one for its name. `invalid_argument`,
 * `project_not_found`, `already_exists`.
 */
export function createEnvironment(
  context: ManagementContext,
  actor: Actor,
  place: EnvironmentPlace & { readonly appearance?: NewAppearance },
): Promise<Written<Environment>> {
  checkName('environment', place.environment);

  return writeRecord(context, actor, async (tx) => {
    const project = await findProject(tx, actor, place.project);
    const made = { projectId: project.id, name: place.environment, ...place.appearance };
    return addEnvironment(context, tx, made);
  });
}

/**
 * Inserts an environment after the others of its project. Its appearance defaults to the one for its name.
 * `already_exists`.
 */
export async function addEnvironment(
  context: ManagementContext,
  tx: Tx,
  { projectId, name, ...appearance }: Pick<Environment, 'projectId' | 'name'> & NewAppearance,
): Promise<Environment> {
  // Writers of the project's flags and states lock its environments, and must not miss this one. It also keeps the
  // position unique.
  await lockProject(tx, projectId);

  const others = await readEnvironments(tx, projectId);
  const position = Math.max(-1, ...others.map((other) => other.position)) + 1;

  const createdAt = context.now();
  const place = { id: context.newId(), projectId, name, revision: 0, createdAt };
  return insertEnvironment(tx, {
    ...place,
    ...PLAIN_APPEARANCE,
    ...defaultAppearance(name),
    ...appearance,
    position,
  });
}

/** The appearance of a new environment. It requires approvals and reasons only once people set that. */
type NewAppearance = Pick<EnvironmentAppearance, 'protected' | 'color'>;

/** How an environment is shown and guarded. In a change, absent members stay as they are. */
type EnvironmentAppearance = Partial<
  Pick<Environment, 'protected' | 'approvals' | 'emergencyOff' | 'reasonRequired' | 'color' | 'position'>
>;

/**
 * Changes the appearance of an environment, and how it is guarded; no revision, no frame. Loosening a guard needs what a change of
 * its states needs: permission, approval, confirmation. `environment_not_found`, `invalid_argument`.
 */
export function updateEnvironment(
  context: ManagementContext,
  actor: Actor,
  input: EnvironmentPlace & { readonly appearance: EnvironmentAppearance },
): Promise<Written<Environment>> {
  return writeRecord(context, actor, async (tx) => {
    const { id } = await findEnvironment(tx, actor, input);
    const environment = await lockEnvironment(tx, id);
    if (environment === undefined) throw environmentNotFound(input.environment);

    const updated = { ...environment, ...input.appearance };
    await changeAppearance(actor, tx, { before: environment, after: updated });
    return updated.protected ? updated : { ...updated, approvals: 0 };
  });
}

/** Stores another appearance of a locked environment, with the conditions of {@link updateEnvironment}. */
export async function changeAppearance(
  actor: Actor,
  tx: Tx,
  { before, after }: { readonly before: Environment; readonly after: Environment },
): Promise<void> {
  if (loosens(before, after)) requireChangeOf(actor, before);
  if (after.approvals > before.approvals) await requireApprovers(tx, after);

  await storeAppearance(tx, after);
}

/** Whether a change of an environment takes a guard away, or a part of it. */
export function loosens(before: Environment, after: Environment): boolean {
  if (!after.protected && before.protected) return true;
  if (after.approvals < before.approvals || (before.reasonRequired && !after.reasonRequired)) return true;
  return after.approvals > 0 && after.emergencyOff && !before.emergencyOff;
}

/** Refuses approvals without protection. */
export function requireProtection({
  name,
  protected: isProtected,
  approvals = 0,
}: Pick<Environment, 'name' | 'protected'> & Partial<Pick<Environment, 'approvals'>>): void {
  if (isProtected || approvals === 0) return;
  throw invalid(`Only a protected environment requires approvals: protect ${quote(name)} as well.`);
}

/** Refuses approvals that the people of a project cannot give: then no change would ever be approved. */
async function requireApprovers(tx: Tx, environment: Environment): Promise<void> {
  requireProtection(environment);
  await tx.lockPeople();
  requireApproversAmong(await readOperators(tx), environment);
}

/** As {@link requireProtection}, and refuses approvals that these people cannot give. */
export function requireApproversAmong(
  operators: readonly Operator[],
  environment: Pick<Environment, 'projectId' | 'name' | 'protected' | 'approvals'>,
): void {
  const { projectId, name, approvals } = environment;
  requireProtection(environment);
  const able = operators.filter((operator) => mayChangeProtected(permissionsOf(operator), projectId));
  if (able.length > approvals) return;
  const needed = `${approvals + 1} people who may change it, an author and ${approvals === 1 ? 'another one' : `${approvals} others`}`;
  throw invalid(`${quote(name)} would require ${needed}; the project has ${able.length}: invite more first.`);
}

/**
 * Deletes an environment with its states, closes its streams, cancels its schedules and stops its rollout plans, so that
 * none of them changes a later environment of the same name. `environment_not_found`.
 */
export function deleteEnvironment(
  context: ManagementContext,
  actor: Actor,
  place: EnvironmentPlace,
): Promise<Written<object>> {
  return writeDone(context, actor, async (tx) => {
    const environment = await lockPlace(tx, actor, place);
    const { id: environmentId, projectId, name } = environment;
    const reason = `The environment "${name}" was deleted.`;
    await interruptRemoved(tx, { projectId, environmentId }, reason);
    await removeEnvironment(tx, environment);
  });
}
