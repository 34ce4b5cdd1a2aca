import type { Actor } from '../../domain/audit.ts';
import type { Environment, StateOperation } from '../../domain/project.ts';
import type { StoreTransaction } from '../../domain/store.ts';
import type { ManagementContext } from '../context.ts';
import { putAside, putBack } from '../flags/flag-archive.ts';
import { ensureFlags } from '../flags/flag-states.ts';
import { requireChangeOf, requireRole } from '../permissions.ts';
import type { RevertPlan } from './revert-plan.ts';

/** Does what the plan says, one change in each environment. `forbidden`, `confirmation_required`. */
export async function applyRevert(
  context: ManagementContext,
  actor: Actor,
  transaction: StoreTransaction,
  { plan, environments }: { readonly plan: RevertPlan; readonly environments: readonly Environment[] },
): Promise<void> {
  for (const { flag, states } of plan.recreate) await transaction.recreateFlag(flag, states);
  for (const flag of plan.restore) await putBack(actor, transaction, { flag, environments });
  await writeStates(context, actor, transaction, plan);
  for (const flag of plan.archive) await putAside(context, actor, transaction, { flag, environments });
  for (const flag of plan.texts) await transaction.putFlag(flag);
  for (const flag of plan.remove) {
    requireRole(actor, 'admin');
    await transaction.deleteFlag(flag);
  }
  for (const environment of plan.appearance) {
    requireRole(actor, 'admin');
    const known = environments.find(({ id }) => id === environment.id);
    if (known !== undefined && !environment.protected) requireChangeOf(actor, known);
    await transaction.updateEnvironment(environment);
  }
}

async function writeStates(
  context: ManagementContext,
  actor: Actor,
  transaction: StoreTransaction,
  { states }: RevertPlan,
): Promise<void> {
  const [first] = states;
  if (first === undefined) return;
  const keys = states.flatMap(({ key, state }) => (state === undefined ? [] : [key]));
  const { projectId } = first.environment;
  if (keys.length > 0) await ensureFlags(context, transaction, { projectId, keys: [...new Set(keys)] });
  for (const [environment, steps] of Map.groupBy(states, (step) => step.environment)) {
    requireChangeOf(actor, environment);
    await transaction.changeStates(
      environment,
      steps.map(({ key, state }): StateOperation => [key, state ?? null]),
    );
  }
}
