import type { Invitation, Operator } from '../../domain/people.ts';
import type { StoreTransaction } from '../../domain/store.ts';
import { checkLabel } from '../rules.ts';
import { type Written, writeRecord } from '../write.ts';
import { inspectInvitation, invitationInvalid, openInvitation } from './one-time-links.ts';
import { checkPassword } from './passwords.ts';
import { type Caller, checkEmail, operatorActor, type PeopleContext } from './people.ts';
import { type StartedSession, startSession } from './sessions.ts';

/** What the first administrator says. */
export interface Setup {
  readonly token: string;
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** What somebody who follows a link says. */
export interface Acceptance {
  readonly token: string;
  /** Of somebody new; by default what stands before the `@`. */
  readonly name?: string;
  readonly password: string;
}

/** Makes the first administrator and signs them in. `invitation_invalid`, `invalid_argument`, `rate_limited`. */
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
  return useLink(context, {
    input,
    caller,
    operator: newOperator(context, invitation, email, name),
  });
}

/**
 * Follows an invitation, or a link for a new password, and signs in. A new password ends every session there was.
 * `invitation_invalid`, `invalid_argument`, `already_exists`, `rate_limited`.
 */
export async function acceptInvitation(
  context: PeopleContext,
  input: Acceptance,
  caller: Caller,
): Promise<Written<StartedSession>> {
  const invitation = await inspectInvitation(context, input.token);
  const { kind, email } = invitation;
  if (kind === 'setup' || email === undefined) throw invitationInvalid();
  checkPassword(input.password, email);
  const operator =
    kind === 'reset'
      ? await context.store.read(({ people }) => people.operatorByEmail(email))
      : newOperator(context, invitation, email, checkLabel(input.name ?? email.replace(/@.*$/, '')));
  if (operator === undefined) throw invitationInvalid();
  return useLink(context, { input, caller, operator });
}

interface LinkUse {
  readonly input: { readonly token: string; readonly password: string };
  readonly caller: Caller;
  readonly operator: Operator;
}

async function useLink(context: PeopleContext, use: LinkUse): Promise<Written<StartedSession>> {
  const { input, caller, operator } = use;
  const hash = await context.passwords.hash(input.password);
  return writeRecord(context, operatorActor(operator, caller), async (transaction) => {
    const { people } = transaction;
    await people.lock();
    // Once more: the hash took a while, and others may have come first.
    const invitation = await openInvitation(context, people, input.token);
    if (!(await people.useInvitation(invitation, context.now()))) throw invitationInvalid();
    if (invitation.kind === 'reset') await replacePassword(transaction, operator, hash);
    else await people.insertOperator(operator, hash);
    return startSession(context, transaction, operator);
  });
}

async function replacePassword({ people }: StoreTransaction, { id }: Operator, hash: string): Promise<void> {
  const operator = await people.operator(id);
  if (operator === undefined) throw invitationInvalid();
  await people.setPassword(operator, hash);
  await people.deleteSessionsOf(operator);
}

function newOperator(context: PeopleContext, invitation: Invitation, email: string, name: string): Operator {
  const { role, canChangeProtected } = invitation;
  return { id: context.newId(), email, name, role, canChangeProtected, createdAt: context.now() };
}
