import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, ServiceError } from '../../domain/errors.ts';
import { detailsOf, PLAIN_DETAILS } from '../../domain/project.ts';
import type { ManagementContext } from '../../management/context.ts';
import { requireRole } from '../../management/rights.ts';
import { requireChangeOf } from '../../management/write.ts';
import { loosens, requireApproversAmong, requireProtection } from '../environments/environments.ts';
import type { Operator } from '../people/operator.ts';
import { shownUrl, type Webhook } from '../webhooks/webhook.ts';
import { requireAddress } from '../webhooks/webhooks.ts';
import type { DeclaredFlag } from './document.ts';
import { isSameDetails } from './import-plan.ts';
import type { ImportPlan } from './plan.ts';
import { withRole } from './section-import.ts';
import { isHidden } from './sections.ts';

/** One change that an import would make, and why it may not. */
export interface Refusal {
  readonly what: string;
  readonly refusal: ServiceError;
}

/** Checks each part of a plan by the rule that the same change has when it is made alone. (Spec: S25.3) */
export function judge(
  context: ManagementContext,
  actor: Actor,
  { plan, people }: { readonly plan: ImportPlan; readonly people: readonly Operator[] },
): readonly Refusal[] {
  const checks = new Checks(actor, plan);
  judgeEnvironments(checks, plan, people);
  judgeFlags(checks, plan);
  judgeSections(checks, plan, context);
  return checks.refusals;
}

/** Collects what is refused to the actor. */
class Checks {
  readonly actor: Actor;
  readonly refusals: Refusal[] = [];
  readonly #project: { readonly id: string } | undefined;

  constructor(actor: Actor, { project }: ImportPlan) {
    this.actor = actor;
    this.#project = project && { id: project.id };
  }

  check(what: string, rule: () => void): void {
    try {
      rule();
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      this.refusals.push({ what, refusal: error });
    }
  }

  /** Without a project, the role for all projects is needed. */
  asRole(level: 'admin' | 'editor' | 'states', what: string): void {
    this.check(what, () => requireRole(this.actor, level, this.#project));
  }
}

function judgeEnvironments(checks: Checks, plan: ImportPlan, people: readonly Operator[]): void {
  if (plan.project === undefined) checks.asRole('admin', 'create the project');
  for (const { name } of plan.environmentsCreated) checks.asRole('admin', `create the environment "${name}"`);
  judgeApprovals(checks, plan, people);
  if (plan.order !== undefined) checks.asRole('admin', 'change the order of environments');

  for (const { before, after } of plan.environmentsUpdated) {
    const isShown = before.protected !== after.protected || before.color !== after.color;
    checks.asRole('admin', `change the ${isShown ? 'protection or color' : 'guards'} of "${before.name}"`);
    if (!loosens(before, after)) continue;
    const what = after.protected ? 'loosen the guards' : 'remove the protection';
    checks.check(`${what} of "${before.name}"`, () => requireChangeOf(checks.actor, before));
  }
}

/** Also whether there are people who can approve, with the roles that the document gives them. */
function judgeApprovals(checks: Checks, plan: ImportPlan, people: readonly Operator[]): void {
  const project = plan.project ?? { id: '', name: '' };
  const roles = new Map(plan.sections.membersChanged.map((change) => [change.email, change]));
  const members = people.map((operator) => {
    const change = roles.get(operator.email);
    return change === undefined ? operator : withRole(operator, change.after, project);
  });

  const settled = [
    ...plan.environmentsCreated.map(({ name, appearance }) => ({
      after: { name, ...appearance },
      before: 0,
    })),
    ...plan.environmentsUpdated.map(({ before, after }) => ({ after, before: before.approvals })),
  ];
  for (const { before, after } of settled) {
    const { name, approvals = 0 } = after;
    checks.check(`require approvals in "${name}"`, () => {
      if (approvals <= before) return requireProtection(after);
      requireApproversAmong(members, { name, protected: after.protected, approvals, projectId: project.id });
    });
  }
}

function judgeFlags(checks: Checks, plan: ImportPlan): void {
  const onFlags = (what: string, count: number, level: 'editor' | 'states' = 'editor') => {
    if (count > 0) checks.asRole(level, `${what} ${plural(count, 'flag')}`);
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
      checks.check(`change ${plural(count, 'state')} in "${name}"`, () =>
        requireChangeOf(checks.actor, environment),
      );
  }
}

function judgeSections(checks: Checks, { sections }: ImportPlan, context: ManagementContext): void {
  for (const { name } of sections.keysCreated) checks.asRole('admin', `create the key "${name}"`);
  for (const { name } of sections.keysRevoked) checks.asRole('admin', `revoke the key "${name}"`);
  for (const { name } of sections.webhooksDeleted) checks.asRole('admin', `delete the webhook "${name}"`);
  for (const { email } of sections.membersChanged) checks.asRole('admin', `change the role of ${email}`);

  const sent = [
    ...sections.webhooksCreated.map((after) => ({ verb: 'create', after, before: undefined })),
    ...sections.webhooksUpdated.map(({ before, after }) => ({ verb: 'change', after, before })),
  ];
  for (const { verb, after, before } of sent) {
    const what = `${verb} the webhook "${after.name}"`;
    checks.asRole('admin', what);
    checks.check(what, () => checkAddress(context, after.url, before));
  }

  for (const { operator, email } of sections.membersChanged) {
    checks.check(`give ${email} a role`, () => {
      if (operator === undefined)
        throw invalid(`${quote(email)} has no account here: invite them first (halyard operator invite).`);
      if (operator.identity !== undefined)
        throw invalid(`${quote(email)} signs in by single sign-on: the role comes from their groups.`);
    });
  }

  const hasSecrets = sections.keysCreated.length + sections.webhooksCreated.length > 0;
  if (checks.actor.approval !== undefined && hasSecrets) {
    checks.check('create keys or webhooks in a proposal', () => {
      throw invalid('No one would see their secrets, which are shown once: import them by themselves.');
    });
  }
}

/** An address that is not shown stands only for the one of the webhook itself, `before`. */
function checkAddress(context: ManagementContext, url: string, before: Webhook | undefined): void {
  if (!isHidden(url)) requireAddress(context, url);
  else if (before === undefined || url !== shownUrl(before))
    throw invalid('"url" is not shown in the document: write the whole address into it.');
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
export function refuse(refusals: readonly Refusal[]): void {
  const forbidden = refusals.filter(({ refusal }) => refusal.code === 'forbidden');
  const counted = forbidden.length > 0 ? forbidden : refusals;
  const [first] = counted;
  if (first === undefined) return;

  const list = counted.map(({ what, refusal }) => `- ${what}: ${refusal.message}`).join('\n');
  throw new ServiceError(first.refusal.code, `Nothing was imported. Not allowed:\n${list}`);
}
