import type { Actor } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import { stateParts } from '../../domain/flag-state-text.ts';
import {
  detailsOf,
  type Environment,
  type Flag,
  PLAIN_DETAILS,
  type Project,
  type StateText,
} from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { requireRole } from '../../management/rights.ts';
import { requireChangeOf, type Written, writeRecord } from '../../management/write.ts';
import type { Tx } from '../../storage/tx.ts';
import { storeAppearance } from '../environments/environment-table.ts';
import {
  addEnvironment,
  loosens,
  requireApprovers,
  requireProtection,
} from '../environments/environments.ts';
import { interruptArchived } from '../flags/flag-archive.ts';
import {
  insertArchivedFlag,
  insertFlags,
  storeArchived,
  storeFlag,
  storeRestored,
} from '../flags/flag-table.ts';
import { lockWholeProject } from '../locks.ts';
import { insertProject, readProject } from '../projects/project-table.ts';
import { changeStates } from '../states/change-states.ts';
import type { DeclaredFlag, ImportRules } from './document.ts';
import { isSameDetails, planImport } from './import-plan.ts';
import type { CreatedSecrets, ImportPlan } from './plan.ts';
import {
  applyMembers,
  applySections,
  type ImportContext,
  judgeSections,
  needsPeople,
  type Refusal,
  settingsOf,
} from './section-import.ts';

/** One change that an import would make and its actor may not, in words. */
export interface NotAllowed {
  /** As in `create project "shop"`. */
  readonly what: string;
  /** The error code: `approval_required` can be proposed, `reason_required` takes a reason. */
  readonly code: string;
  readonly why: string;
}

/** What an import changes, and which of these changes the actor may not make. */
export interface ImportPreview {
  readonly plan: ImportPlan;
  readonly notAllowed: readonly NotAllowed[];
}

/** What an import did, with the secrets of what it created, which are shown once. */
export interface Imported extends CreatedSecrets {
  readonly plan: ImportPlan;
}

/** Compares a document with its project, without locks and without writing anything. */
export async function previewImport(
  context: ImportContext,
  actor: Actor,
  rules: ImportRules,
): Promise<ImportPreview> {
  const { plan, refusals } = await context.store.read(async (db) => {
    const plan = await planImport(db, actor, rules, context.now());
    // A preview needs no confirmation.
    const permissions = { ...actor.permissions, confirmed: 'all' } as const;
    const others = await judgeSections(db, { ...actor, permissions }, { plan, context });
    return { plan, refusals: [...judge({ ...actor, permissions }, plan), ...others] };
  });
  return {
    plan,
    notAllowed: refusals.map(({ what, refusal }) => ({ what, code: refusal.code, why: refusal.message })),
  };
}

/**
 * Imports a declaration in one transaction: each environment touched is one change. All or nothing: `forbidden` with a list
 * of what the actor may not do, and `confirmation_required`.
 */
export function importDeclaration(
  context: ImportContext,
  actor: Actor,
  rules: ImportRules,
): Promise<Written<Imported>> {
  return writeRecord(context, actor, async (tx) => {
    const project = await readProject(tx, rules.declaration.project);
    if (project !== undefined) await lockWholeProject(tx, project.id);

    // People are locked last; what is planned about them stays true from here on.
    if (needsPeople(rules.declaration)) await tx.lockPeople();

    const plan = await planImport(tx, actor, rules, context.now());
    refuse([...judge(actor, plan), ...(await judgeSections(tx, actor, { plan, context }))]);

    const made = await apply(context, tx, plan, rules.declaration.project);
    return { plan, ...(await applySections(context, tx, plan.sections, made)) };
  });
}

/** Checks each part of a plan by the rule that the same change has when it is made alone. */
function judge(actor: Actor, plan: ImportPlan): readonly Refusal[] {
  const refusals: Refusal[] = [];
  const check = (what: string, rule: () => void): void => {
    try {
      rule();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      refusals.push({ what, refusal: error });
    }
  };

  const place = plan.project && { id: plan.project.id };
  const asAdmin = (what: string) => check(what, () => requireRole(actor, 'admin', place));
  if (plan.project === undefined) asAdmin('create the project');
  for (const { name } of plan.environmentsCreated) asAdmin(`create the environment "${name}"`);
  const settled = [
    ...plan.environmentsCreated.map(({ name, appearance }) => ({ name, ...appearance })),
    ...plan.environmentsUpdated.map(({ after }) => after),
  ];
  for (const each of settled) check(`require approvals in "${each.name}"`, () => requireProtection(each));
  if (plan.order !== undefined) asAdmin('change the order of environments');
  for (const { before, after } of plan.environmentsUpdated) {
    const isShown = before.protected !== after.protected || before.color !== after.color;
    asAdmin(`change the ${isShown ? 'protection or color' : 'guards'} of "${before.name}"`);
    if (!loosens(before, after)) continue;
    const what = after.protected ? 'loosen the guards' : 'remove the protection';
    check(`${what} of "${before.name}"`, () => requireChangeOf(actor, before));
  }

  const onFlags = (what: string, count: number, level: 'editor' | 'states' = 'editor') => {
    if (count > 0) check(`${what} ${plural(count, 'flag')}`, () => requireRole(actor, level, place));
  };
  const [bare, described] = partition(plan.flagsCreated, ({ declared }) => comesWithState(declared));
  onFlags('create', bare.length, 'states');
  onFlags('create and describe', described.length);
  onFlags('change the details of', plan.flagsUpdated.length);
  onFlags('archive', plan.flagsArchived.length);
  onFlags('restore', plan.flagsRestored.length);

  for (const environment of plan.environments) {
    const { name } = environment;
    const count = plan.operations.get(name)?.size ?? 0;
    if (count > 0)
      check(`change ${plural(count, 'state')} in "${name}"`, () => requireChangeOf(actor, environment));
  }
  return refusals;
}

/** Whether setting the flag's states would create it as it is declared. */
function comesWithState(declared: DeclaredFlag): boolean {
  const details = detailsOf({ owner: '', ...declared });
  return isSameDetails(details, PLAIN_DETAILS) && !declared.archived && declared.states.size > 0;
}

function partition<T>(items: readonly T[], is: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(is), items.filter((item) => !is(item))];
}

function plural(count: number, noun: string): string {
  return count === 1 ? `1 ${noun}` : `${count} ${noun}s`;
}

/** Throws for the whole import if anything in it is refused; missing rights before missing confirmations. */
function refuse(refusals: readonly Refusal[]): void {
  const forbidden = refusals.filter(({ refusal }) => refusal.code === 'forbidden');
  const counted = forbidden.length > 0 ? forbidden : refusals;
  const [first] = counted;
  if (first === undefined) return;

  const list = counted.map(({ what, refusal }) => `- ${what}: ${refusal.message}`).join('\n');
  throw new ServiceError(first.refusal.code, `Nothing was imported. Not allowed:\n${list}`);
}

/** Writes a plan that was made under the locks of its project. */
async function apply(context: ManagementContext, tx: Tx, plan: ImportPlan, name: string): Promise<Project> {
  const project = plan.project ?? { id: context.newId(), name, createdAt: context.now() };
  if (plan.project === undefined) await insertProject(tx, project);
  const projectId = project.id;

  for (const { name: made, appearance } of plan.environmentsCreated)
    await addEnvironment(context, tx, {
      projectId,
      name: made,
      protected: appearance.protected,
      color: appearance.color,
    });
  const environments = await lockWholeProject(tx, projectId);
  await applyMembers(context, tx, plan.sections, project);
  await updateEnvironments(tx, plan, environments);

  const ids = new Map(environments.map((environment) => [environment.name, environment.id]));
  await createFlags(context, tx, { projectId, flags: plan.flagsCreated, ids });
  for (const { after } of plan.flagsUpdated) await storeFlag(tx, after);
  for (const flag of plan.flagsRestored) await storeRestored(tx, flag);
  for (const { flag } of plan.flagsArchived) await interruptArchived(tx, flag);

  for (const environment of environments) {
    const operations = plan.operations.get(environment.name);
    if (operations !== undefined) await changeStates(tx, environment, [...operations]);
  }

  for (const { flag, states } of plan.flagsArchived)
    await storeArchived(tx, flag, { at: context.now(), states: byId(states, ids) });
  return project;
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
    if (after.approvals > environment.approvals) await requireApprovers(tx, after);
    await storeAppearance(tx, after);
  }
}

async function createFlags(
  context: ManagementContext,
  tx: Tx,
  {
    projectId,
    flags,
    ids,
  }: {
    readonly projectId: string;
    readonly flags: ImportPlan['flagsCreated'];
    readonly ids: ReadonlyMap<string, string>;
  },
): Promise<void> {
  const at = context.now();
  const inUse: Flag[] = [];

  for (const { key, declared } of flags) {
    const details = detailsOf({ owner: '', ...declared });
    const flag = { ...details, projectId, key, createdAt: at };
    if (!declared.archived) inUse.push(flag);
    else await insertArchivedFlag(tx, { ...flag, archivedAt: at }, byId(declared.states, ids));
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
