import { type GlobalRole, NAME_PATTERN, ROLES, type Role } from '@halyard/protocol';
import type { SessionLifetime } from './rights.ts';

/** The roles that a group can give, least first, as settings name them. */
export const SSO_ROLES = ['viewer', 'editor', 'editor+protected', 'admin'] as const;

/** One of {@link SSO_ROLES}. */
export type SsoRole = (typeof SSO_ROLES)[number];

/** A group of the identity provider and the role that it gives. */
export interface GroupRole {
  readonly group: string;
  readonly role: SsoRole;
  /** The name of the only project in which it counts; absent: in all. */
  readonly project?: string;
}

/** How people sign in with an identity provider. */
export interface SsoSettings {
  /** The provider's address, as {@link normalizeIssuer} writes it. */
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string;
  readonly scopes: string;
  /** The claim with the groups; dots lead into objects. */
  readonly groupClaim: string;
  readonly groupRoles: readonly GroupRole[];
  /** The role for all projects of people whose groups give none. */
  readonly defaultRole?: SsoRole;
  /** Domains of e-mail addresses, in lower case; absent: all. */
  readonly emailDomains?: readonly string[];
  /** Whether e-mail addresses count as verified although the provider does not say so. */
  readonly trustEmail: boolean;
  /** Names the provider on the sign-in page. */
  readonly label: string;
  /** Whether signing in with a password is refused. */
  readonly only: boolean;
  /** How long a session lasts, and so a membership counts without a new sign-in. */
  readonly session: SessionLifetime;
  /** How long after a person's last sign-in what they left behind goes on: tokens, schedules, plans, proposals. Milliseconds. */
  readonly absenceMs: number;
}

/** The least, the most and the default of the lengths in {@link SsoSettings}, in the units of the settings. */
export const SSO_LENGTHS = {
  sessionMinutes: { least: 15, most: 7 * 1440, default: 720 },
  idleMinutes: { least: 5, most: 720, default: 720 },
  absenceDays: { least: 1, most: 90, default: 30 },
} as const;

/** The lengths as the settings give them. A session that is used ends no later than an unused one. */
export function ssoLengths({
  sessionMinutes,
  idleMinutes,
  absenceDays,
}: {
  readonly sessionMinutes: number;
  readonly idleMinutes: number;
  readonly absenceDays: number;
}): Pick<SsoSettings, 'session' | 'absenceMs'> {
  return {
    session: { idleMs: idleMinutes * 60_000, absoluteMs: sessionMinutes * 60_000 },
    absenceMs: absenceDays * 86_400_000,
  };
}

/** Reads `group=role` or `group=role@project`; the last `=` separates the group, and `\,` is a comma. `undefined` when it is not that. */
export function parseGroupRole(text: string): GroupRole | undefined {
  const [, group = '', roleText = '', project] = /^(.+)=([^=@]*)(?:@([^=@]*))?$/s.exec(text.trim()) ?? [];
  const role = SSO_ROLES.find((one) => one === roleText.trim());
  const name = group.trim().replaceAll('\\,', ',');
  if (role === undefined || name === '') return undefined;
  if (project === undefined) return { group: name, role };
  return NAME_PATTERN.test(project) ? { group: name, role, project } : undefined;
}

/** One spelling of an issuer's address: that of the root has a slash at its end, whether it was typed or not. */
export function normalizeIssuer(text: string): string {
  return new URL(text).href;
}

/** The rights that groups give, with the projects by name. */
export interface GroupRights {
  readonly role: GlobalRole;
  readonly canChangeProtected: boolean;
  readonly projects: ReadonlyMap<string, { readonly role: Role; readonly canChangeProtected: boolean }>;
}

/**
 * The rights that groups give: the highest of the mapped roles for all projects, else the default role, and the highest
 * of those for each project that a role is limited to.
 */
export function groupRights(
  groups: readonly string[],
  { groupRoles, defaultRole }: Pick<SsoSettings, 'groupRoles' | 'defaultRole'>,
): GroupRights {
  const given = Map.groupBy(
    groupRoles.filter(({ group }) => groups.includes(group)),
    ({ project }) => project,
  );
  const everywhere = highestOf(given.get(undefined)) ?? defaultRole;
  const projects = new Map<string, ReturnType<typeof meaningOf>>();
  for (const [project, roles] of given) {
    const highest = highestOf(roles);
    if (project !== undefined && highest !== undefined) projects.set(project, meaningOf(highest));
  }
  const none = { role: 'none', canChangeProtected: false } as const;
  return { ...(everywhere === undefined ? none : meaningOf(everywhere)), projects };
}

function highestOf(given: readonly GroupRole[] = []): SsoRole | undefined {
  return SSO_ROLES.findLast((role) => given.some((each) => each.role === role));
}

function meaningOf(ssoRole: SsoRole) {
  const role = ROLES.find((one) => ssoRole.startsWith(one)) ?? 'viewer';
  return { role, canChangeProtected: role === 'admin' || ssoRole === 'editor+protected' };
}
