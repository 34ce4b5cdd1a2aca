import type { Actor } from '../../domain/audit.ts';
import { isoTime, isoTimeOr } from '../../management/api/answers.ts';
import { permissionMembers, rightsRecord } from '../../management/api/rights-schemas.ts';
import { seqMember, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import { seesPeople } from '../../management/rights.ts';
import { MAX_TEXT } from '../../management/rules.ts';
import { INVITATION_KINDS } from './invitation.ts';
import type { Operator } from './operator.ts';

/** A person's e-mail. The format `email` of JSON Schema has neither `ada@localhost` nor letters beyond ASCII. */
export const EmailSchema = z
  .string()
  .openapi({ example: 'ada@example.com', pattern: String.raw`^\s*[^\s@]+@[^\s@]+\s*$`, maxLength: 254 });

/** A password or one-time token: never returned, never logged. Longer texts are refused before they are hashed. */
export const SecretSchema = z.string().max(1000, { error: 'it is too long' }).openapi({ format: 'password' });

const identityMembers = {
  id: z.string(),
  email: EmailSchema,
  name: z.string().openapi({ maxLength: MAX_TEXT.label }),
  ...permissionMembers,
  signIn: z.enum(['password', 'sso']).openapi({
    description: 'How the person signs in. The role of a person of single sign-on comes from their groups.',
  }),
} as const;

/** An operator as the API returns it. */
export const OperatorRecordSchema = z
  .object({
    ...identityMembers,
    createdAt: TimeSchema,
    lastSeenAt: TimeSchema.optional().openapi({ description: 'Only shown to administrators.' }),
  })
  .openapi('Operator');

/** An operator as the API returns it to `reader`; without one, to the operator. */
export function operatorRecord(operator: Operator, reader?: Actor) {
  const { id, email, name, identity, createdAt } = operator;
  const lastSeenAt = reader === undefined || seesPeople(reader) ? operator.lastSeenAt : undefined;
  const times = { createdAt: isoTime(createdAt), lastSeenAt: isoTimeOr(lastSeenAt) };
  const signIn = identity === undefined ? 'password' : 'sso';
  return { id, email, name, ...rightsRecord(operator, reader), signIn, ...times };
}

/** Whether the browser is signed in, and as whom. */
export const SessionSchema = z
  .object({
    signedIn: z.boolean(),
    setupNeeded: z.boolean().openapi({ description: '`true` until the first operator exists.' }),
    operator: z.object(identityMembers).optional(),
    expiresAt: TimeSchema.optional().openapi({
      description: 'When the session ends if it is not used again.',
    }),
    sso: z
      .object({
        label: z.string().openapi({ description: 'The name of the identity provider.' }),
        only: z.boolean().openapi({ description: 'Whether passwords are refused.' }),
        url: z
          .string()
          .openapi({ description: 'Where the browser begins; `?from=` is the path to return to.' }),
      })
      .optional()
      .openapi({ description: 'Single sign-on, where it is set up.' }),
    evaluationUrl: z.string().optional().openapi({
      description: 'Where programs read flags, when management has its own address.',
    }),
    ...seqMember,
  })
  .openapi('Session');

/** An open link, without its token. */
export const InvitationRecordSchema = z
  .object({
    id: z.string(),
    kind: z.enum(INVITATION_KINDS),
    email: EmailSchema.optional(),
    ...permissionMembers,
    createdBy: z.string(),
    createdAt: TimeSchema,
    expiresAt: TimeSchema,
  })
  .openapi('Invitation');

/** The purpose of a link, for its holder. */
export const LinkSchema = InvitationRecordSchema.omit({ id: true, createdBy: true, createdAt: true });

/** A link that was just created. */
export const OfferedLinkSchema = InvitationRecordSchema.extend({
  token: z.string(),
  link: z.string().openapi({
    description: 'Send it to the person. The secret follows the `#`, which browsers do not send.',
  }),
  ...seqMember,
}).openapi('OfferedLink');
