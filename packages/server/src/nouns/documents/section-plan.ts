import type { Actor } from '../../domain/audit.ts';
import { DELETED_MARK, type Project, type ProjectKey } from '../../domain/project.ts';
import { requireRole } from '../../management/rights.ts';
import type { Queryable } from '../../storage/database.ts';
import { readKeys } from '../keys/key-table.ts';
import { projectKeyStatus } from '../keys/project-keys.ts';
import type { Operator } from '../people/operator.ts';
import { readOperators } from '../people/operator-table.ts';
import { shownUrl, type Webhook } from '../webhooks/webhook.ts';
import { readWebhooks } from '../webhooks/webhook-table.ts';
import type {
  Declaration,
  DeclaredKey,
  DeclaredMember,
  DeclaredWebhook,
  ImportRules,
  Section,
} from './document.ts';
import type { MemberChange, MemberRole, SectionPlan } from './plan.ts';

/** The sections of a project as a document has them. Keys, webhooks and people are for administrators of the project. `forbidden`. */
export async function declareSections(
  db: Queryable,
  actor: Actor,
  {
    project,
    sections,
    now,
  }: { readonly project: Project; readonly sections: readonly Section[]; readonly now: number },
): Promise<Pick<Declaration, 'keys' | 'webhooks' | 'members'>> {
  const has = (section: Section) => sections.includes(section);
  if (sections.some((section) => section !== 'settings')) requireAdministrator(actor, project);

  return {
    ...(has('keys') && { keys: currentKeys(await readWorkingKeys(db, project.id, now)).map(declaredKey) }),
    ...(has('webhooks') && { webhooks: (await readWebhooks(db, project.id)).map(declaredWebhook) }),
    ...(has('members') && { members: declaredMembers(await readOperators(db), project.id) }),
  };
}

/** What an import changes in the sections that its document has. Without a project, it is created. `forbidden`. */
export async function planSections(
  db: Queryable,
  actor: Actor,
  {
    project,
    rules,
    now,
  }: { readonly project: Project | undefined; readonly rules: ImportRules; readonly now: number },
): Promise<SectionPlan> {
  const { keys, webhooks, members } = rules.declaration;
  const shows = project === undefined ? members : (keys ?? webhooks ?? members);
  // Also of a project that is to be created: the plan says which e-mails have an account.
  if (shows !== undefined) requireAdministrator(actor, project);

  const known = project?.id;
  const found = {
    keys: keys === undefined || known === undefined ? [] : await readWorkingKeys(db, known, now),
    webhooks: webhooks === undefined || known === undefined ? [] : await readWebhooks(db, known),
    people: members === undefined ? [] : await readOperators(db),
  };
  const planner = new SectionPlanner(rules);

  return {
    ...planner.keys(keys, found.keys, now),
    ...planner.webhooks(webhooks, found.webhooks),
    ...planner.members(members, found.people, known),
    kept: planner.kept,
    only: planner.only,
  };
}

/** Without a project, for all projects. A token with a limit reads here what its role may read: it plans imports. */
function requireAdministrator(actor: Actor, project: Project | undefined): void {
  const { only: _, ...permissions } = actor.permissions;
  requireRole({ ...actor, permissions }, 'admin', project && { id: project.id });
}

class SectionPlanner {
  readonly #enforces: boolean;
  readonly #rules: ImportRules;
  readonly only = { keys: [] as string[], webhooks: [] as string[], members: [] as string[] };
  kept = 0;

  constructor(rules: ImportRules) {
    this.#rules = rules;
    this.#enforces = rules.policy === 'enforce';
  }

  /** Returns which of the items that the document lacks are removed; the others are only listed. */
  #removed<Item>(
    section: keyof SectionPlanner['only'],
    lacking: readonly Item[],
    nameOf: (item: Item) => string,
  ): readonly Item[] {
    if (!this.#enforces) return [];
    if (this.#rules.remove.includes(section)) return lacking;
    this.only[section].push(...lacking.map(nameOf));
    return [];
  }

  /** A key cannot be changed: one with other environments or another end is another key. One that has ended is not made again. */
  keys(declared: readonly DeclaredKey[] | undefined, working: readonly ProjectKey[], now: number) {
    const left = new Set(currentKeys(working));

    const missing: DeclaredKey[] = [];
    for (const key of declared ?? []) {
      const same = left.values().find((each) => textOf(declaredKey(each)) === textOf(key));
      if (same === undefined) missing.push(key);
      else left.delete(same);
    }

    const keysCreated: DeclaredKey[] = [];
    for (const key of missing) {
      if (key.expiresAt !== undefined && key.expiresAt <= now) continue;
      const other = this.#enforces ? undefined : left.values().find(({ name }) => name === key.name);
      if (other === undefined) {
        keysCreated.push(key);
        continue;
      }
      left.delete(other);
      this.kept++;
    }

    const lacking = declared === undefined ? [] : [...left];
    const revoked = this.#removed('keys', lacking, ({ name }) => name);
    return { keysCreated, keysRevoked: withReplaced(revoked, working) };
  }

  webhooks(declared: readonly DeclaredWebhook[] | undefined, found: readonly Webhook[]) {
    const known = new Map(found.map((webhook) => [webhook.name, webhook]));
    const webhooksUpdated: { before: Webhook; after: DeclaredWebhook }[] = [];
    const webhooksCreated: DeclaredWebhook[] = [];

    for (const after of declared ?? []) {
      const before = known.get(after.name);
      known.delete(after.name);
      if (before === undefined) webhooksCreated.push(after);
      else if (isSameWebhook(before, after)) continue;
      else if (this.#enforces) webhooksUpdated.push({ before, after });
      else this.kept++;
    }

    const lacking = declared === undefined ? [] : [...known.values()];
    const webhooksDeleted = this.#removed('webhooks', lacking, ({ name }) => name);
    return { webhooksCreated, webhooksUpdated, webhooksDeleted };
  }

  members(
    declared: readonly DeclaredMember[] | undefined,
    people: readonly Operator[],
    projectId: string | undefined,
  ) {
    const byEmail = new Map(people.map((operator) => [operator.email, operator]));
    const left = new Map(
      people.flatMap((operator) => {
        const role = roleIn(operator, projectId);
        return role === undefined ? [] : [[operator.email, role] as const];
      }),
    );
    const membersChanged: MemberChange[] = [];

    for (const { email, ...after } of declared ?? []) {
      const before = left.get(email);
      left.delete(email);
      if (before !== undefined && textOf(before) === textOf(after)) continue;
      const operator = byEmail.get(email);
      if (before !== undefined && !this.#enforces) this.kept++;
      else membersChanged.push({ email, after, ...(operator && { operator }), ...(before && { before }) });
    }

    const lacking = declared === undefined ? [] : [...left];
    for (const [email, before] of this.#removed('members', lacking, ([email]) => email)) {
      const operator = byEmail.get(email);
      membersChanged.push({ email, before, ...(operator && { operator }) });
    }
    return { membersChanged };
  }
}

async function readWorkingKeys(
  db: Queryable,
  projectId: string,
  now: number,
): Promise<readonly ProjectKey[]> {
  return (await readKeys(db, projectId)).filter((key) => projectKeyStatus(key, now) === 'active');
}

/** Those of working keys that no other one of them has replaced, by name; without environments that were deleted. */
function currentKeys(working: readonly ProjectKey[]): readonly ProjectKey[] {
  const ids = new Set(working.map(({ id }) => id));

  return working
    .filter(({ replacedBy }) => replacedBy === undefined || !ids.has(replacedBy))
    .map((key) => ({
      ...key,
      environments: key.environments.filter((name) => !name.endsWith(DELETED_MARK)).toSorted(),
    }))
    .filter(({ environments }) => environments.length > 0)
    .sort((a, b) => (textOf(declaredKey(a)) < textOf(declaredKey(b)) ? -1 : 1));
}

/** These keys, and those that they replaced and that still work: otherwise they would take their place. */
function withReplaced(keys: readonly ProjectKey[], working: readonly ProjectKey[]): readonly ProjectKey[] {
  const ids = new Set(keys.map(({ id }) => id));
  const replaced = working.filter(({ replacedBy }) => replacedBy !== undefined && ids.has(replacedBy));
  return replaced.length === 0 ? keys : [...keys, ...withReplaced(replaced, working)];
}

function declaredKey({ name, environments, expiresAt }: ProjectKey): DeclaredKey {
  return { name, environments, ...(expiresAt !== undefined && { expiresAt }) };
}

function declaredWebhook(webhook: Webhook): DeclaredWebhook {
  const { name, format, environments, events, status } = webhook;
  return { name, url: shownUrl(webhook), format, environments, events, paused: status === 'paused' };
}

function isSameWebhook(before: Webhook, after: DeclaredWebhook): boolean {
  const { url } = after;
  const isSameAddress = url === before.url || url === shownUrl(before);
  return isSameAddress && textOf({ ...declaredWebhook(before), url }) === textOf(after);
}

/** People with a role in the project itself, by e-mail. Who has the role of their groups is at the identity provider. */
function declaredMembers(operators: readonly Operator[], projectId: string): readonly DeclaredMember[] {
  return operators.flatMap((operator) => {
    const role = roleIn(operator, projectId);
    return role === undefined ? [] : [{ email: operator.email, ...role }];
  });
}

function roleIn(
  { identity, projects = [] }: Operator,
  projectId: string | undefined,
): MemberRole | undefined {
  if (identity !== undefined) return undefined;
  const found = projects.find((each) => each.projectId === projectId);
  return (
    found && { role: found.role, canChangeProtected: found.role === 'admin' || found.canChangeProtected }
  );
}

function textOf(item: object): string {
  return JSON.stringify(item);
}
