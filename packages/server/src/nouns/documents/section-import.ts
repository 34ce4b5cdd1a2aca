import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, ServiceError } from '../../domain/errors.ts';
import type { Environment, Project } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { requireRole } from '../../management/rights.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { storeKeyRevocation } from '../keys/key-table.ts';
import { addKey } from '../keys/project-keys.ts';
import { replaceOperator } from '../people/operators.ts';
import { shownUrl, type Webhook } from '../webhooks/webhook.ts';
import { removeWebhook } from '../webhooks/webhook-table.ts';
import { addWebhook, setWebhook } from '../webhooks/webhooks.ts';
import type { Declaration, DeclaredKey, EnvironmentSettings } from './document.ts';
import type { CreatedSecrets, ImportPlan, MemberChange, SectionPlan } from './plan.ts';
import { isHidden } from './sections.ts';

/** What an import needs of the node. */
export type ImportContext = ManagementContext;

/** One change that an import would make, and why it may not. */
export interface Refusal {
  readonly what: string;
  readonly refusal: ServiceError;
}

/** Whether an import decides about people. */
export function needsPeople({ members, environments }: Declaration): boolean {
  return members !== undefined || environments.some(({ appearance }) => (appearance?.approvals ?? 0) > 0);
}

/** The settings of an environment. */
export function settingsOf(environment: Environment): EnvironmentSettings {
  const { protected: isProtected, color, approvals, emergencyOff, reasonRequired } = environment;
  return { protected: isProtected, color, approvals, emergencyOff, reasonRequired };
}

/** Checks each change of the sections by the rule that it has when it is made alone. (Spec: S25.3) */
export async function judgeSections(
  _db: Queryable,
  actor: Actor,
  { plan, context }: { readonly plan: ImportPlan; readonly context: ImportContext },
): Promise<readonly Refusal[]> {
  const { sections, project } = plan;
  const refusals: Refusal[] = [];
  const check = (what: string, rule: () => void): void => {
    try {
      rule();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      refusals.push({ what, refusal: error });
    }
  };
  const asAdmin = (what: string) =>
    check(what, () => requireRole(actor, 'admin', project && { id: project.id }));

  for (const { name } of sections.keysCreated) asAdmin(`create the key "${name}"`);
  for (const { name } of sections.keysRevoked) asAdmin(`revoke the key "${name}"`);
  for (const { name } of sections.webhooksDeleted) asAdmin(`delete the webhook "${name}"`);
  for (const { email } of sections.membersChanged) asAdmin(`change the role of ${email}`);
  const sent = [
    ...sections.webhooksCreated.map((after) => ({
      what: `create the webhook "${after.name}"`,
      after,
      before: undefined,
    })),
    ...sections.webhooksUpdated.map(({ before, after }) => ({
      what: `change the webhook "${after.name}"`,
      after,
      before,
    })),
  ];
  for (const { what, after, before } of sent) {
    asAdmin(what);
    check(what, () => requireAddress(context, after.url, before));
  }

  for (const { operator, email } of sections.membersChanged) {
    check(`give ${email} a role`, () => {
      if (operator === undefined)
        throw invalid(`${quote(email)} has no account here: invite them first (halyard operator invite).`);
      if (operator.identity !== undefined)
        throw invalid(`${quote(email)} signs in by single sign-on: the role comes from their groups.`);
    });
  }

  if (actor.approval !== undefined && sections.keysCreated.length + sections.webhooksCreated.length > 0) {
    check('create keys or webhooks in a proposal', () => {
      throw invalid('No one would see their secrets, which are shown once: import them by themselves.');
    });
  }
  return refusals;
}

/** An address that is not shown stands only for the one of the webhook itself, `before`. */
function requireAddress(context: ImportContext, url: string, before: Webhook | undefined): void {
  if (!isHidden(url)) {
    const problem = context.problemOfAddress?.(url);
    if (problem !== undefined) throw invalid(`"url" ${problem}.`);
    return;
  }
  if (before === undefined || url !== shownUrl(before))
    throw invalid('"url" is not shown in the document: write the whole address into it.');
}

/** Makes, changes and ends keys and webhooks, under the lock of the project. */
export async function applySections(
  context: ImportContext,
  tx: Tx,
  plan: SectionPlan,
  { id: projectId }: Project,
): Promise<CreatedSecrets> {
  const keys: (DeclaredKey & { id: string; key: string })[] = [];
  for (const declared of plan.keysCreated) {
    const { record, key } = await addKey(context, tx, { projectId, ...declared });
    keys.push({ ...declared, id: record.id, key });
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
  context: ImportContext,
  tx: Tx,
  { membersChanged }: SectionPlan,
  project: Project,
): Promise<void> {
  for (const change of membersChanged) await changeMember(context, tx, change, project);
}

async function changeMember(
  context: ImportContext,
  tx: Tx,
  { operator: known, after }: MemberChange,
  { id: projectId, name: project }: Project,
): Promise<void> {
  if (known === undefined) return;

  const { projects = [], ...person } = known;
  const others = projects.filter((each) => each.projectId !== projectId);
  const roles = after === undefined ? others : [...others, { projectId, project, ...after }];
  const sorted = roles.toSorted((a, b) => (a.project < b.project ? -1 : 1));
  const operator = { ...person, ...(sorted.length > 0 && { projects: sorted }) };
  await replaceOperator(context, tx, { known, operator });
}
