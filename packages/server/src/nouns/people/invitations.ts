import { defined, formatSecret } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { invalid, quote, ServiceError } from '../../domain/errors.ts';
import type { Rights } from '../../domain/rights.ts';
import { digestOf } from '../../domain/secret.ts';
import type { Caller } from '../../management/context.ts';
import { administersAll, requireRole, rightsOf } from '../../management/rights.ts';
import { checkLabel } from '../../management/rules.ts';
import { type Written, writeDone, writeRecord } from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { recordNotFound } from '../lookup.ts';
import { isManagedBySso } from '../sso/sso.ts';
import { currentPermissions, isSettingsToken, lockGrant, newRights, type RightsChange } from './grants.ts';
import { INVITATION_LIFETIME, type Invitation, isOpen } from './invitation.ts';
import {
  insertInvitation,
  insertSetup,
  readInvitationByDigest,
  readOpenInvitations,
  storeRevocation,
  takeInvitation,
} from './invitation-table.ts';
import type { Operator } from './operator.ts';
import {
  hasOperators,
  insertOperator,
  readOperator,
  readOperatorByEmail,
  storePassword,
} from './operator-table.ts';
import { endLinks, findOperator, mayOffer } from './operators.ts';
import { checkEmail, nameIn, operatorActor, type PeopleContext } from './people.ts';
import { removeSessionsOf } from './session-table.ts';
import { type StartedSession, startSession } from './sessions.ts';
import { checkPassword } from './sign-in.ts';

/** The one-time links that can be used, to rights that the actor administers, newest first. */
export async function listInvitations(context: PeopleContext, actor: Actor): Promise<readonly Invitation[]> {
  return context.store.read(async (db) => {
    const listed: Invitation[] = [];
    for (const link of await readOpenInvitations(db, context.now())) {
      if (administersAll(actor, link) && (await isStillOffered(context, db, link))) listed.push(link);
    }
    return listed;
  });
}

/**
 * Invites a person; it replaces earlier invitations of the same e-mail that the actor could revoke. `invalid_argument`, `project_not_found`, `forbidden`,
 * `already_exists`.
 */
export async function invite(
  context: PeopleContext,
  actor: Actor,
  input: RightsChange & { readonly email: string },
): Promise<Written<OfferedLink>> {
  const email = checkEmail(input.email);
  requirePasswords(context, actor);

  return writeRecord(context, actor, async (tx) => {
    const grant = await lockGrant(tx, actor, input.projects);
    const rights = newRights(grant, input);
    if ((await readOperatorByEmail(tx, email)) !== undefined) {
      throw new ServiceError(
        'already_exists',
        `${quote(email)} is already an operator: create a password reset link instead.`,
      );
    }

    return offer(context, tx, actor, { kind: 'invite', email, ...rights });
  });
}

/**
 * Refuses links for passwords that could not be used. The token of the settings may still make one: it is the way in for
 * the people who run the server when the provider is lost, and works once.
 */
function requirePasswords({ sso }: PeopleContext, actor: Pick<Actor, 'name'>): void {
  if (!sso?.settings.only || isSettingsToken(actor)) return;
  throw new ServiceError(
    'forbidden',
    `This server accepts no passwords: people sign in with ${sso.settings.label}. Only its administration token can make a link.`,
  );
}

/**
 * Creates a password reset link for an operator. The old password works until it is used. `not_found`,
 * `invalid_argument` for an operator of single sign-on.
 */
export function offerReset(
  context: PeopleContext,
  actor: Actor,
  operatorId: string,
): Promise<Written<OfferedLink>> {
  return writeRecord(context, actor, async (tx) => {
    await tx.lockPeople();
    requireRole(actor, 'admin');

    const operator = await findOperator(tx, operatorId);
    const { email } = operator;
    if (isManagedBySso(operator, context.sso)) {
      throw invalid(`${quote(email)} signs in by single sign-on and has no password.`);
    }
    requirePasswords(context, actor);

    return offer(context, tx, actor, { kind: 'reset', email, ...rightsOf(operator) });
  });
}

/** Revokes a link. `not_found` for one that is no longer open, or to rights that the actor does not administer. */
export function revokeInvitation(context: PeopleContext, actor: Actor, id: string): Promise<Written<object>> {
  return writeDone(context, actor, async (tx) => {
    // Waits for a concurrent use of the link: it must not be reported as revoked after a person has joined with it.
    await tx.lockPeople();

    const now = context.now();
    const invitation = (await readOpenInvitations(tx, now)).find((candidate) => candidate.id === id);
    if (invitation === undefined || !administersAll(actor, invitation))
      throw recordNotFound(
        `The open invitation with the id ${quote(id)} does not exist: list the invitations to find it.`,
      );
    await storeRevocation(tx, invitation, now);
  });
}

/**
 * Creates a link for the first administrator, which replaces earlier ones of the same creator. Each node may have its
 * own link: any one works, and all end with the first operator.
 */
export async function offerSetup(context: PeopleContext, createdBy: string): Promise<OfferedLink> {
  const rights = { role: 'admin', canChangeProtected: true } as const;
  const offered = newLink(context, { kind: 'setup', ...rights, createdBy });
  await context.store.unlogged((tx) => insertSetup(tx, offered, digestOf(offered.token)));
  return offered;
}

/** Makes a link in the place of the earlier ones of its kind for the e-mail, as far as the actor could revoke them. */
async function offer(
  context: PeopleContext,
  tx: Tx,
  actor: Actor,
  facts: Omit<LinkFacts, 'createdBy'>,
): Promise<OfferedLink> {
  const { kind, email } = facts;
  await endLinks(
    context,
    tx,
    (earlier) => earlier.kind === kind && earlier.email === email && administersAll(actor, earlier),
  );

  const offered = newLink(context, { ...facts, createdBy: actor.name });
  await insertInvitation(tx, offered, digestOf(offered.token));
  return offered;
}

/** Input of the first administrator. */
export interface Setup {
  readonly token: string;
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** Input of a person who follows a link. The name is for a new operator; it defaults to the part before the `@`. */
export type Acceptance = Pick<Setup, 'token' | 'password'> & Partial<Pick<Setup, 'name'>>;

/** Creates the first administrator and signs them in. `invitation_invalid`, `invalid_argument`, `rate_limited`. */
export async function setUp(
  context: PeopleContext,
  input: Setup,
  caller: Caller,
): Promise<Written<StartedSession>> {
  const email = checkEmail(input.email);
  const name = checkLabel(input.name);
  checkPassword(input.password, email);

  const invitation = await inspectInvitation(context, input.token);
  if (invitation.kind !== 'setup') throw invitationInvalid();
  return useLink(context, { input, caller, operator: newOperator(context, invitation, email, name) });
}

/**
 * Accepts an invitation or resets a password, and signs in. A new password ends all earlier sessions.
 * `invitation_invalid`, `invalid_argument`, `already_exists`, `rate_limited`.
 */
export async function acceptInvitation(
  context: PeopleContext,
  input: Acceptance,
  caller: Caller,
): Promise<Written<StartedSession>> {
  const invitation = await inspectInvitation(context, input.token);
  const { kind, email, createdBy } = invitation;
  if (kind === 'setup' || email === undefined) throw invitationInvalid();
  requirePasswords(context, { name: createdBy });
  checkPassword(input.password, email);

  const operator =
    kind === 'reset'
      ? await context.store.read((db) => readOperatorByEmail(db, email))
      : newOperator(context, invitation, email, checkLabel(input.name ?? nameIn(email)));
  if (operator === undefined) throw invitationInvalid();
  return useLink(context, { input, caller, operator });
}

interface LinkUse {
  readonly input: Pick<Setup, 'token' | 'password'>;
  readonly caller: Caller;
  readonly operator: Operator;
}

async function useLink(context: PeopleContext, use: LinkUse): Promise<Written<StartedSession>> {
  const { input, caller, operator } = use;
  const hash = await context.passwords.hash(input.password);

  return writeRecord(context, operatorActor(operator, caller), async (tx) => {
    await tx.lockPeople();

    // Checked again: another request may have used the link while the hash was computed.
    const invitation = await openInvitation(context, tx, input.token);
    if (!(await takeInvitation(tx, invitation, context.now()))) throw invitationInvalid();

    if (invitation.kind === 'reset') {
      return startSession(context, tx, await replacePassword(tx, operator, hash), caller);
    }
    await insertOperator(tx, operator, hash);
    return startSession(context, tx, operator, caller);
  });
}

async function replacePassword(tx: Tx, { id }: Operator, hash: string): Promise<Operator> {
  const known = await readOperator(tx, id);
  if (known === undefined) throw invitationInvalid();
  const { identity: _, ...operator } = known;
  await storePassword(tx, operator, hash);
  await removeSessionsOf(tx, operator);
  return operator;
}

function newOperator(context: PeopleContext, invitation: Invitation, email: string, name: string): Operator {
  return { id: context.newId(), email, name, ...rightsOf(invitation), createdAt: context.now() };
}

/** The prefix of every one-time token, for people, secret scanners and the log. */
const INVITATION_PREFIX = 'hin_';

/** A link's record with its token, which is shown only once, and the link that holds it. */
export interface OfferedLink extends Invitation {
  readonly token: string;
  readonly link: string;
}

/** The purpose of a link, and its creator. */
type LinkFacts = Rights & Pick<Invitation, 'kind' | 'email' | 'createdBy'>;

/** Creates a link's record and its secret; nothing is stored yet. */
function newLink(context: PeopleContext, facts: LinkFacts): OfferedLink {
  const createdAt = context.now();
  const expiresAt = createdAt + INVITATION_LIFETIME[facts.kind];
  const token = INVITATION_PREFIX + formatSecret(context.randomBytes(32));
  const id = context.newId();

  const madeWith = isSettingsToken({ name: facts.createdBy }) ? proofOf(context, id) : undefined;
  const page = facts.kind === 'setup' ? 'setup' : 'invitation';

  // In the fragment, which browsers do not send: it appears in no server log.
  const link = `${context.publicUrl}/${page}#${token}`;
  return { id, ...facts, ...defined({ madeWith }), createdAt, expiresAt, token, link };
}

/** Ties the link of that id to the token from the settings. */
function proofOf({ adminToken }: PeopleContext, id: string): string | undefined {
  return adminToken === undefined ? undefined : digestOf(`${id}:${adminToken}`);
}

/**
 * The invitation of a token. `invitation_invalid` when it is unknown, used, revoked or expired, or its creator could no longer
 * create it, without saying which.
 */
export function inspectInvitation(context: PeopleContext, token: string): Promise<Invitation> {
  return context.store.read((db) => openInvitation(context, db, token));
}

/** Does the same as {@link inspectInvitation} in a transaction. */
async function openInvitation(context: PeopleContext, db: Queryable, token: string): Promise<Invitation> {
  const invitation =
    token.startsWith(INVITATION_PREFIX) && token.length <= 100
      ? await readInvitationByDigest(db, digestOf(token))
      : undefined;
  if (invitation === undefined || !isOpen(invitation, context.now())) throw invitationInvalid();

  const isUsable =
    invitation.kind === 'setup' ? !(await hasOperators(db)) : await isStillOffered(context, db, invitation);
  if (!isUsable) throw invitationInvalid();
  return invitation;
}

/** How far the clock of the node that stored a link's creator may be ahead of the one that stored the link, in milliseconds. */
const CLOCK_TOLERANCE_MS = 60_000;

/**
 * Whether the creator of a link could still create it. Links of people and tokens end with a removal, a demotion and a
 * revocation; a token that expires, or the one from the settings that is replaced, does nothing at that moment.
 */
async function isStillOffered(context: PeopleContext, db: Queryable, link: Invitation): Promise<boolean> {
  if (link.madeWith !== undefined && link.madeWith !== proofOf(context, link.id)) return false;
  const times = { now: context.now(), since: link.createdAt + CLOCK_TOLERANCE_MS };
  const permissions = await currentPermissions(db, link.createdBy, times);
  return permissions !== undefined && mayOffer({ name: link.createdBy, permissions }, link);
}

/** The same error for every invalid link. */
function invitationInvalid(): ServiceError {
  return new ServiceError(
    'invitation_invalid',
    'This link was used, was revoked or has expired: ask an administrator for a new one.',
  );
}
