import type { ProjectRole, Rights } from '../../domain/rights.ts';
import { digestOf } from '../../domain/secret.ts';
import { groupRights, type SsoSettings } from '../../domain/sso.ts';
import { shorten, visibleName } from '../../domain/text.ts';
import type { Caller } from '../../management/context.ts';
import { MAX_TEXT } from '../../management/rules.ts';
import { type Written, writeRecord } from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import type { Identity, Operator } from '../people/operator.ts';
import {
  insertOperator,
  readOperatorByEmail,
  readOperatorByIdentity,
  readOperators,
  storeIdentity,
  storeVouched,
} from '../people/operator-table.ts';
import { endLinks, replaceOperator, withRights } from '../people/operators.ts';
import { isEmail, nameIn, operatorActor, type PeopleContext } from '../people/people.ts';
import { removeSessionsOf, storeRefusal, takeSignOn } from '../people/session-table.ts';
import { type StartedSession, startSession } from '../people/sessions.ts';
import { readProject } from '../projects/project-table.ts';
import { type Claims, ProviderError, type VouchedPerson } from './identity-provider.ts';
import { SignOnRefused, type SsoProblem } from './sso.ts';

/** A person as the identity provider describes them. */
export interface SsoPerson {
  readonly identity: Identity;
  /** Lower case; absent without a valid one. */
  readonly email?: string;
  readonly isEmailVerified: boolean;
  readonly name?: string;
  readonly groups: readonly string[];
  /** Why there are no groups, for the log; absent where the provider sent the claim. */
  readonly groupsMissing?: string;
}

/** Whether the UserInfo endpoint must be asked: the ID token has no groups, although groups decide, or no e-mail. */
export function needsUserInfo(idToken: Claims, { groupClaim, groupRoles }: SsoSettings): boolean {
  return (
    typeof idToken.email !== 'string' || (groupRoles.length > 0 && claimAt(idToken, groupClaim) === undefined)
  );
}

/** Reads the claims of a person. Claims of the ID token go first; the e-mail and whether it is verified are never mixed. {@link ProviderError}. */
export function personOf(
  { subject, idToken, userInfo = {}, offeredScopes }: VouchedPerson,
  settings: SsoSettings,
): SsoPerson {
  const { issuer, groupClaim, trustEmail } = settings;
  const groups = claimAt(idToken, groupClaim) ?? claimAt(userInfo, groupClaim);
  const source = typeof idToken.email === 'string' ? idToken : userInfo;

  // Only A to Z: the lower case of other letters, such as the Kelvin sign, can be the address of another person.
  const email = String(source.email ?? '').replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  for (const text of [subject, email]) {
    if (!text.isWellFormed() || text.includes('\0')) {
      throw new ProviderError('invalid', 'the subject or the e-mail is not a text that can be stored');
    }
  }

  const name = [idToken.name, userInfo.name].find((one) => typeof one === 'string');
  return {
    identity: { issuer, subject },
    ...(isEmail(email) && { email }),
    // Some providers send it as a string.
    isEmailVerified: trustEmail || source.email_verified === true || source.email_verified === 'true',
    ...(name !== undefined && { name: String(name) }),
    groups: textsIn(groups),
    ...(groups === undefined && { groupsMissing: whyNoGroups(settings, offeredScopes) }),
  };
}

/** Most providers send the groups only to those who ask for the scope of that name. */
function whyNoGroups({ groupClaim, scopes }: SsoSettings, offered: readonly string[]): string {
  const asked = scopes.split(' ');
  const usual = [groupClaim, ...groupClaim.split('.'), 'groups', 'roles'];
  const lacking = usual.find((scope) => offered.includes(scope) && !asked.includes(scope));
  const missing = `the provider sent no claim "${groupClaim}", neither in the ID token nor from its UserInfo endpoint`;
  if (lacking === undefined) return missing;
  return `${missing}; it has the scope "${lacking}", which HALYARD_OIDC_SCOPES lacks`;
}

/** Why groups give no role, for the log: counts only, because the names are the provider's. */
function whyNoRole({ groups, groupsMissing }: SsoPerson, settings: SsoSettings): string {
  if (groupsMissing !== undefined) return groupsMissing;
  const count = `${groups.length} ${groups.length === 1 ? 'group' : 'groups'}`;
  const isProjectMissing = groupRights(groups, settings).projects.size > 0;
  return isProjectMissing
    ? `${count}, whose roles in HALYARD_OIDC_ROLES are all in projects that do not exist`
    : `${count}, none of them in HALYARD_OIDC_ROLES`;
}

/** A claim by its name, or by a path into objects such as `realm_access.roles`. */
function claimAt(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return undefined;
    // Checked in the line above.
    value = (value as Claims)[part];
  }
  return value;
}

function textsIn(value: unknown): readonly string[] {
  return [value].flat().filter((one) => typeof one === 'string');
}

/** Options of {@link signOn}. */
export interface SignOn {
  readonly settings: SsoSettings;
  /** Marks the sign-on as used. */
  readonly nonce: string;
  readonly caller: Caller;
  /** Called when the groups took the role from the last administrator. */
  readonly onNoAdmin: () => void;
}

/**
 * Signs in a person for whom the provider vouches, to the account with this identity. Without one, to the account with this
 * e-mail, which loses its password, or to a new one; both only if the provider has verified the e-mail. The role is taken from
 * the groups each time. A person who is refused loses sessions and role. Rejects with {@link SignOnRefused}.
 */
export async function signOn(
  context: PeopleContext,
  person: SsoPerson,
  { settings, nonce, caller, onNoAdmin }: SignOn,
): Promise<Written<StartedSession>> {
  const known = await context.store.read((db) => readOperatorByIdentity(db, person.identity));
  const email = known?.email ?? person.email;
  if (email === undefined) throw new SignOnRefused('no_email');
  const actor = {
    ...operatorActor(newcomer(context, person, email, NO_RIGHTS), caller),
    note: 'single sign-on',
  };

  let hasNoAdmin = false;
  const outcome = await writeRecord(context, actor, async (tx) => {
    await tx.lockPeople();
    hasNoAdmin = false;
    if (!(await takeSignOn(tx, digestOf(nonce), context.now()))) throw new SignOnRefused('expired');

    const operator = await readOperatorByIdentity(tx, person.identity);
    const rights = await admissible(tx, person, settings);
    if (typeof rights === 'string') {
      if (operator === undefined) throw refusal(rights, person, settings);
      await setRights(context, tx, operator, NO_RIGHTS);
      hasNoAdmin = await lostLastAdmin(tx, operator);
      await removeSessionsOf(tx, operator);
      await storeRefusal(tx, operator, rights);
      return { refused: rights };
    }

    const admitted = operator ?? (await admit(context, tx, person, rights));
    const signedOn = await setRights(context, tx, admitted, rights);
    await storeVouched(tx, signedOn, context.now() + settings.absenceMs);
    hasNoAdmin = await lostLastAdmin(tx, admitted);
    return startSession(context, tx, signedOn, caller);
  });

  if (hasNoAdmin) onNoAdmin();
  // Thrown here, because a transaction that throws changes nothing.
  if ('refused' in outcome) throw refusal(outcome.refused, person, settings);
  return outcome;
}

function refusal(problem: SsoProblem, person: SsoPerson, settings: SsoSettings): SignOnRefused {
  return new SignOnRefused(problem, problem === 'no_role' ? whyNoRole(person, settings) : undefined);
}

/** The rights of an operator who may no longer sign in. */
const NO_RIGHTS: Rights = { role: 'none', canChangeProtected: false };

/** The rights that the settings give the person, or why they give none. Projects that do not exist are skipped. */
async function admissible(
  db: Queryable,
  person: SsoPerson,
  settings: SsoSettings,
): Promise<Rights | SsoProblem> {
  const { emailDomains } = settings;
  if (emailDomains !== undefined) {
    if (person.email === undefined) return 'no_email';
    if (!person.isEmailVerified) return 'email_unverified';
    if (!emailDomains.includes(person.email.replace(/^.*@/s, ''))) return 'email_domain';
  }

  const { projects: named, ...rights } = groupRights(person.groups, settings);
  const projects: ProjectRole[] = [];
  for (const [project, role] of [...named].sort()) {
    const found = await readProject(db, project);
    if (found !== undefined) projects.push({ projectId: found.id, project, ...role });
  }
  if (projects.length > 0) return { ...rights, projects };
  return rights.role === 'none' ? 'no_role' : rights;
}

/** The account of a person at their first sign-on. Every other way to sign in to it ends. */
async function admit(context: PeopleContext, tx: Tx, person: SsoPerson, rights: Rights): Promise<Operator> {
  const { identity, email, isEmailVerified } = person;
  if (email === undefined) throw new SignOnRefused('no_email');
  if (!isEmailVerified) throw new SignOnRefused('email_unverified');

  const holder = await readOperatorByEmail(tx, email);
  // The address has another owner now: the account is not theirs. An administrator can remove it.
  if (holder?.identity?.issuer === identity.issuer) throw new SignOnRefused('email_taken');

  await endLinks(context, tx, (link) => link.email === email);
  if (holder === undefined) {
    const operator = newcomer(context, person, email, rights);
    await insertOperator(tx, operator, '');
    return operator;
  }

  await storeIdentity(tx, holder, identity);
  await removeSessionsOf(tx, holder);
  return { ...holder, identity };
}

function newcomer(
  context: PeopleContext,
  { identity, name = '' }: SsoPerson,
  email: string,
  rights: Rights,
): Operator {
  const oneLine = name.toWellFormed().replaceAll(/\p{Cc}+/gu, ' ');
  const clean = shorten(visibleName(oneLine), MAX_TEXT.label).trim();
  return {
    id: context.newId(),
    email,
    name: clean === '' ? nameIn(email) : clean,
    ...rights,
    identity,
    createdAt: context.now(),
  };
}

/** Whether no administrator is left, after this operator was one. */
async function lostLastAdmin(tx: Tx, before: Operator): Promise<boolean> {
  return before.role === 'admin' && !(await readOperators(tx)).some(({ role }) => role === 'admin');
}

/** Gives the operator these rights. */
async function setRights(context: PeopleContext, tx: Tx, known: Operator, rights: Rights): Promise<Operator> {
  const operator = withRights(known, rights);
  await replaceOperator(context, tx, { known, operator });
  return operator;
}
