import { type Rights, ROLES } from './people.ts';

/** The roles that a group can give, least first, as settings name them. */
export const SSO_ROLES = ['viewer', 'editor', 'editor+protected', 'admin'] as const;

/** One of {@link SSO_ROLES}. */
export type SsoRole = (typeof SSO_ROLES)[number];

/** A group of the identity provider and the role that it gives. */
export interface GroupRole {
  readonly group: string;
  readonly role: SsoRole;
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
  /** The role of people in none of the groups; absent: they are refused. */
  readonly defaultRole?: SsoRole;
  /** Domains of e-mail addresses, in lower case; absent: all. */
  readonly emailDomains?: readonly string[];
  /** Whether e-mail addresses count as verified although the provider does not say so. */
  readonly trustEmail: boolean;
  /** Names the provider on the sign-in page. */
  readonly label: string;
  /** Whether signing in with a password is refused. */
  readonly only: boolean;
}

/** Reads `group=role`; the last `=` separates the two, and `\,` is a comma. `undefined` when it is not that. */
export function parseGroupRole(text: string): GroupRole | undefined {
  const [, group = '', roleText] = /^(.+)=([^=]*)$/s.exec(text.trim()) ?? [];
  const role = SSO_ROLES.find((one) => one === roleText?.trim());
  const name = group.trim().replaceAll('\\,', ',');
  return role === undefined || name === '' ? undefined : { group: name, role };
}

/** One spelling of an issuer's address: that of the root has a slash at its end, whether it was typed or not. */
export function normalizeIssuer(text: string): string {
  return new URL(text).href;
}

/** The rights that groups give: the highest of the mapped roles, else the default role; `undefined` without either. */
export function groupRights(
  groups: readonly string[],
  { groupRoles, defaultRole }: Pick<SsoSettings, 'groupRoles' | 'defaultRole'>,
): Rights | undefined {
  const given = groupRoles.filter(({ group }) => groups.includes(group)).map(({ role }) => role);
  const highest = SSO_ROLES.findLast((role) => given.includes(role)) ?? defaultRole;
  if (highest === undefined) return undefined;
  const role = ROLES.find((one) => highest.startsWith(one)) ?? 'viewer';
  return { role, canChangeProtected: role === 'admin' || highest === 'editor+protected' };
}
