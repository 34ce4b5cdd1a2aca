import type { Project } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { Tx } from '../../storage/tx.ts';
import { storeKeyRevocation } from '../keys/key-table.ts';
import { addKey } from '../keys/project-keys.ts';
import type { Operator } from '../people/operator.ts';
import { replaceOperator } from '../people/operators.ts';
import { removeWebhook } from '../webhooks/webhook-table.ts';
import { addWebhook, setWebhook } from '../webhooks/webhooks.ts';
import type { Declaration, DeclaredKey } from './document.ts';
import type { CreatedSecrets, MemberRole, SectionPlan } from './plan.ts';
import { isHidden } from './sections.ts';

/** Whether an import decides about people. */
export function needsPeople({ members, environments }: Declaration): boolean {
  return members !== undefined || environments.some(({ appearance }) => (appearance?.approvals ?? 0) > 0);
}

/** Makes, changes and ends keys and webhooks, under the lock of the project. */
export async function applySections(
  context: ManagementContext,
  tx: Tx,
  plan: SectionPlan,
  { id: projectId }: Project,
): Promise<CreatedSecrets> {
  const keys: (DeclaredKey & { id: string; key: string })[] = [];
  for (const declared of plan.keysCreated) {
    const { id, key } = await addKey(context, tx, { projectId, ...declared });
    keys.push({ ...declared, id, key });
  }
  for (const key of plan.keysRevoked) await storeKeyRevocation(tx, key, context.now());

  const webhooks = new Map<string, string>();
  // First, so that new ones find a place.
  for (const webhook of plan.webhooksDeleted) await removeWebhook(tx, webhook);
  for (const declared of plan.webhooksCreated) {
    const { name, paused, ...settings } = declared;
    const { record, secret } = await addWebhook(context, tx, { projectId, name, ...settings });
    if (paused) await setWebhook(tx, record, { ...settings, status: 'paused' });
    webhooks.set(name, secret);
  }
  for (const { before, after } of plan.webhooksUpdated) {
    const { paused, name: _, ...settings } = after;
    const url = isHidden(settings.url) ? before.url : settings.url;
    const status = paused ? 'paused' : before.status === 'paused' ? 'active' : undefined;
    await setWebhook(tx, before, { ...settings, url, ...(status && { status }) });
  }
  return { keys, webhooks };
}

/** Gives people their roles in the project. Comes before guards that need people who can approve. */
export async function applyMembers(
  context: ManagementContext,
  tx: Tx,
  { membersChanged }: SectionPlan,
  project: Project,
): Promise<void> {
  for (const { operator: known, after } of membersChanged) {
    if (known === undefined) continue;
    await replaceOperator(context, tx, { known, operator: withRole(known, after, project) });
  }
}

/** The operator with this role in the project, or without one. */
export function withRole(
  known: Operator,
  role: MemberRole | undefined,
  { id: projectId, name: project }: Pick<Project, 'id' | 'name'>,
): Operator {
  const { projects = [], ...person } = known;
  const others = projects.filter((each) => each.projectId !== projectId);
  const roles = role === undefined ? others : [...others, { projectId, project, ...role }];
  const sorted = roles.toSorted((a, b) => (a.project < b.project ? -1 : 1));
  return { ...person, ...(sorted.length > 0 && { projects: sorted }) };
}
