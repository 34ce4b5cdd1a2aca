import { formatSecret } from '@halyard/protocol';
import { ServiceError } from '../../domain/errors.ts';
import { INVITATION_LIFETIME, type Invitation, isOpen, type PeopleReader } from '../../domain/people.ts';
import { digestOf } from '../../domain/secret.ts';
import type { PeopleContext } from './people.ts';

/** What every one-time token begins with, for people, secret scanners and the log. */
const INVITATION_PREFIX = 'hin_';

/** A link's record with the token itself, which is shown this once, and the link that holds it. */
export interface OfferedLink {
  readonly record: Invitation;
  readonly token: string;
  readonly link: string;
}

/** What a link is for, and who makes it. */
export type LinkFacts = Pick<Invitation, 'kind' | 'email' | 'role' | 'canChangeProtected' | 'createdBy'>;

/** Makes a link's record and its secret; nothing is kept yet. */
export function newLink(context: PeopleContext, facts: LinkFacts): OfferedLink {
  const createdAt = context.now();
  const expiresAt = createdAt + INVITATION_LIFETIME[facts.kind];
  const token = INVITATION_PREFIX + formatSecret(context.randomBytes(32));
  const page = facts.kind === 'setup' ? 'setup' : 'invitation';
  return {
    record: { id: context.newId(), ...facts, createdAt, expiresAt },
    token,
    // In the fragment, which browsers keep to themselves: no server log holds it.
    link: `${context.publicUrl}/${page}#${token}`,
  };
}

/** What a token opens. `invitation_invalid` when it is unknown, used, revoked or too old, without saying which. */
export function inspectInvitation(context: PeopleContext, token: string): Promise<Invitation> {
  return context.store.read(({ people }) => openInvitation(context, people, token));
}

/** As {@link inspectInvitation}, inside an operation. */
export async function openInvitation(
  context: PeopleContext,
  people: PeopleReader,
  token: string,
): Promise<Invitation> {
  const invitation =
    token.startsWith(INVITATION_PREFIX) && token.length <= 100
      ? await people.invitationByDigest(digestOf(token))
      : undefined;
  if (invitation === undefined || !isOpen(invitation, context.now())) throw invitationInvalid();
  if (invitation.kind === 'setup' && (await people.hasOperators())) throw invitationInvalid();
  return invitation;
}

/** The one answer to every link that opens nothing. */
export function invitationInvalid(): ServiceError {
  return new ServiceError(
    'invitation_invalid',
    'This link was used, was withdrawn or has expired: ask an administrator for a new one.',
  );
}
