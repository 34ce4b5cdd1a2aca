import type { Actor } from '../../domain/audit.ts';
import { stateParts } from '../../domain/flag-state-text.ts';
import {
  detailsOf,
  type Environment,
  type Flag,
  type Project,
  type StateText,
} from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { type Written, writeRecord } from '../../management/write.ts';
import type { Tx } from '../../storage/tx.ts';
import { storeAppearance } from '../environments/environment-table.ts';
import { addEnvironment } from '../environments/environments.ts';
import {
  insertFlags,
  insertWholeFlag,
  storeArchived,
  storeFlag,
  storeRestored,
} from '../flags/flag-table.ts';
import { interruptFlag } from '../interruptions.ts';
import { lockWholeProject } from '../locks.ts';
import { readOperators } from '../people/operator-table.ts';
import { announceRecords, insertProject, readProject } from '../projects/project-table.ts';
import { changeStates } from '../states/change-states.ts';
import { lockWebhooks } from '../webhooks/webhook-table.ts';
import { type ImportRules, settingsOf } from './document.ts';
import { planImport } from './import-plan.ts';
import { judge, refuse } from './judge.ts';
import { type CreatedSecrets, type ImportPlan, isEmptyPlan } from './plan.ts';
import { planName, requirePlan } from './previewed-plan.ts';
import { applyMembers, applySections, needsPeople } from './section-import.ts';

/** One change that an import would make and its actor may not, in words. */
type NotAllowed = {
  /** As in `create project "shop"`. */
  readonly what: string;
  /** The error code: `approval_required` can be proposed, `reason_required` takes a reason. */
  readonly code: string;
  readonly why: string;
};

/** What an import changes, and which of these changes the actor may not make. */
export interface ImportPreview {
  readonly plan: ImportPlan;
  /** For an import that must do exactly this. */
  readonly name: string;
  readonly notAllowed: readonly NotAllowed[];
}

/** What an import did, with the secrets of what it created, which are shown once. */
export interface Imported extends CreatedSecrets {
  readonly plan: ImportPlan;
}

/** Compares a document with its project, without locks and without writing anything. */
export async function previewImport(
  context: ManagementContext,
  actor: Actor,
  rules: ImportRules,
): Promise<ImportPreview> {
  const { plan, name, refusals } = await context.store.read(async (db) => {
    const plan = await planImport(db, actor, rules, context.now());
    // A preview needs no confirmation.
    const permissions = { ...actor.permissions, confirmed: 'all' } as const;
    const people = needsPeople(rules.declaration) ? await readOperators(db) : [];
    const refusals = judge(context, { ...actor, permissions }, { plan, people });
    return { plan, name: await planName(db, rules, plan), refusals };
  });
  return {
    plan,
    name,
    notAllowed: refusals.map(({ what, refusal }) => ({ what, code: refusal.code, why: refusal.message })),
  };
}

/**
 * Imports a declaration in one transaction: each environment touched is one change. All or nothing: `forbidden` with a list
 * of what the actor may not do, `confirmation_required`, and `revision_conflict` where it would not do what was previewed.
 * (Spec: S25.4)
 */
export function importDeclaration(
  context: ManagementContext,
  actor: Actor,
  rules: ImportRules,
): Promise<Written<Imported>> {
  return writeRecord(context, actor, async (tx) => {
    const { declaration } = rules;
    const project = await readProject(tx, declaration.project);
    if (project !== undefined) await lockWholeProject(tx, project.id);
    // Before people: attempts to deliver lock a webhook, and then write that it is disabled.
    if (project !== undefined && declaration.webhooks !== undefined) await lockWebhooks(tx, project.id);

    // People are locked last; what is planned about them stays true from here on.
    const isAboutPeople = needsPeople(declaration);
    if (isAboutPeople) await tx.lockPeople();
    const people = isAboutPeople ? await readOperators(tx) : [];

    const plan = await planImport(tx, actor, rules, context.now());
    if (rules.planned !== undefined) await requirePlan(tx, rules.planned, { rules, plan });
    refuse(judge(context, actor, { plan, people }));

    const made = await apply(context, tx, plan, declaration.project);
    return { plan, ...(await applySections(context, tx, plan.sections, made)) };
  });
}

/** Writes a plan that was made under the locks of its project. */
async function apply(context: ManagementContext, tx: Tx, plan: ImportPlan, name: string): Promise<Project> {
  const project = plan.project ?? { id: context.newId(), name, createdAt: context.now() };
  if (plan.project === undefined) await insertProject(tx, project);
  const projectId = project.id;

  for (const { name: made, appearance } of plan.environmentsCreated) {
    const { protected: isProtected, color } = appearance;
    await addEnvironment(context, tx, { projectId, name: made, protected: isProtected, color });
  }
  if (changesRecords(plan)) announceRecords(tx, projectId);

  const environments = await lockWholeProject(tx, projectId);
  await applyMembers(context, tx, plan.sections, project);
  await updateEnvironments(tx, plan, environments);

  const ids = new Map(environments.map((environment) => [environment.name, environment.id]));
  await createFlags(context, tx, plan.flagsCreated, { projectId, ids });
  for (const { after } of plan.flagsUpdated) await storeFlag(tx, after);
  for (const flag of plan.flagsRestored) await storeRestored(tx, flag);
  for (const { flag } of plan.flagsArchived) await interruptFlag(tx, flag, 'archived');

  for (const environment of environments) {
    const operations = plan.operations.get(environment.name);
    if (operations !== undefined) await changeStates(tx, environment, [...operations]);
  }

  for (const { flag, states } of plan.flagsArchived)
    await storeArchived(tx, flag, { at: context.now(), states: byId(states, ids) });
  return project;
}

/** Whether records of a project that exists change, and not only states. */
function changesRecords({ project, changes: _, environmentsCreated: __, ...plan }: ImportPlan): boolean {
  return project !== undefined && !isEmptyPlan({ project, changes: [], environmentsCreated: [], ...plan });
}

/** Each environment once, so that a revert finds one entry for it. */
async function updateEnvironments(
  tx: Tx,
  { order, environmentsUpdated, environmentsCreated }: ImportPlan,
  environments: readonly Environment[],
): Promise<void> {
  const updated = new Map<string, Partial<Environment>>([
    ...environmentsUpdated.map(({ after }) => [after.name, settingsOf(after)] as const),
    // A new environment has no guards yet.
    ...environmentsCreated.map(({ name, appearance }) => [name, appearance] as const),
  ]);

  for (const environment of environments) {
    const settings = updated.get(environment.name);
    const position = order?.indexOf(environment.name) ?? environment.position;
    if (order === undefined && settings === undefined) continue;

    const after = { ...environment, ...settings, position };
    await storeAppearance(tx, after);
  }
}

async function createFlags(
  context: ManagementContext,
  tx: Tx,
  flags: ImportPlan['flagsCreated'],
  { projectId, ids }: { readonly projectId: string; readonly ids: ReadonlyMap<string, string> },
): Promise<void> {
  const at = context.now();
  const inUse: Flag[] = [];

  for (const { key, declared } of flags) {
    const details = detailsOf({ owner: '', ...declared });
    const flag = { ...details, projectId, key, createdAt: at };
    if (!declared.archived) inUse.push(flag);
    else await insertWholeFlag(tx, { ...flag, archivedAt: at }, byId(declared.states, ids), 'flag.created');
  }

  await insertFlags(tx, inUse);
}

/** States by the ids of their environments. A damaged one counts as absent. */
function byId(
  states: ReadonlyMap<string, StateText>,
  ids: ReadonlyMap<string, string>,
): ReadonlyMap<string, StateText> {
  return new Map(
    [...states].flatMap(([name, state]) => {
      const id = ids.get(name);
      return id === undefined || stateParts(state) === undefined ? [] : [[id, state] as const];
    }),
  );
}
