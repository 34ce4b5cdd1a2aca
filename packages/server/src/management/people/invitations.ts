import type { Actor } from '../../domain/audit.ts';
import { ServiceError } from '../../domain/errors.ts';
import type { Invitation, PeopleTransaction, Role } from '../../domain/people.ts';
import { digestOf } from '../../domain/secret.ts';
import { quote } from '../../domain/strict-members.ts';
import { type Written, writeDone, writeRecord } from '../write.ts';
import { newLink, type OfferedLink } from './one-time-links.ts';
import { endLinks, findOperator } from './operators.ts';
import { checkEmail, type PeopleContext } from './people.ts';

/** What an invited person will be. */
export interface NewInvitation {
  readonly email: string;
  readonly role: Role;
  /** Default false. */
  readonly canChangeProtected?: boolean;
}

/** The links to somebody that still open something, newest first. */
export function listInvitations(context: PeopleContext): Promise<readonly Invitation[]> {
  return context.store.read(({ people }) => people.openInvitations(context.now()));
}

/** Invites somebody; an earlier invitation of the same e-mail ends. `invalid_argument`, `already_exists`. */
export async function invite(
  context: PeopleContext,
  actor: Actor,
  input: NewInvitation,
): Promise<Written<OfferedLink>> {
  const email = checkEmail(input.email);
  const { role, canChangeProtected = false } = input;
  const offered = newLink(context, {
    kind: 'invite',
    email,
    role,
    canChangeProtected,
    createdBy: actor.name,
  });
  return writeRecord(context, actor, async ({ people }) => {
    await people.lock();
    if ((await people.operatorByEmail(email)) !== undefined) throw alreadyOperator(email);
    await replaceLinks(context, people, offered.record);
    await people.insertInvitation(offered.record, digestOf(offered.token));
    return offered;
  });
}

/** Makes a link for a new password of an operator. Nothing ends until it is used. `not_found`. */
export function offerReset(
  context: PeopleContext,
  actor: Actor,
  operatorId: string,
): Promise<Written<OfferedLink>> {
  return writeRecord(context, actor, async ({ people }) => {
    await people.lock();
    const { email, role, canChangeProtected } = await findOperator(people, operatorId);
    const offered = newLink(context, {
      kind: 'reset',
      email,
      role,
      canChangeProtected,
      createdBy: actor.name,
    });
    await replaceLinks(context, people, offered.record);
    await people.insertInvitation(offered.record, digestOf(offered.token));
    return offered;
  });
}

/** Takes a link back. `not_found` for one that opens nothing any more. */
export function revokeInvitation(context: PeopleContext, actor: Actor, id: string): Promise<Written<object>> {
  return writeDone(context, actor, async ({ people }) => {
    // Whoever uses the link meanwhile is waited for: it must not be said to open nothing while it has let somebody in.
    await people.lock();
    const now = context.now();
    const invitation = (await people.openInvitations(now)).find((candidate) => candidate.id === id);
    if (invitation === undefined) {
      throw new ServiceError('not_found', `There is no open invitation with the id ${quote(id)}: list them.`);
    }
    await people.revokeInvitation(invitation, now);
  });
}

/**
 * Makes a fresh link for the first administrator, in place of those of the same maker. Several nodes may each have
 * one: any of them works, and all end with the first operator.
 */
export async function offerSetup(context: PeopleContext, maker: string): Promise<OfferedLink> {
  const rights = { role: 'admin', canChangeProtected: true } as const;
  const offered = newLink(context, { kind: 'setup', ...rights, createdBy: maker });
  await context.store.people.offerSetup(offered.record, digestOf(offered.token));
  return offered;
}

/** The newest link of a kind for an e-mail is the only one. */
async function replaceLinks(
  context: PeopleContext,
  people: PeopleTransaction,
  { kind, email }: Invitation,
): Promise<void> {
  await endLinks(context, people, (earlier) => earlier.kind === kind && earlier.email === email);
}

function alreadyOperator(email: string): ServiceError {
  return new ServiceError(
    'already_exists',
    `${quote(email)} is an operator already: make a link for a new password instead.`,
  );
}
