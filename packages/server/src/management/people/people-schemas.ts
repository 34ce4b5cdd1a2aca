import { z } from '@hono/zod-openapi';
import { INVITATION_KINDS, ROLES } from '../../domain/people.ts';
import { lifetimeMembers, seqMember, TimeSchema } from '../api/schemas.ts';
import { MAX_TEXT } from '../rules.ts';

/** A role. */
const RoleSchema = z.enum(ROLES).openapi('Role');

/** A person's e-mail. */
export const EmailSchema = z
  .string()
  .openapi({ example: 'ada@example.com', format: 'email', maxLength: 254 });

/** A password or one-time token: never returned, never logged. Longer texts are refused before they are hashed. */
export const SecretSchema = z.string().max(1000, { error: 'it is too long' }).openapi({ format: 'password' });

const ProtectedSchema = z.boolean().openapi({
  description: 'Whether the states of protected environments may be changed; administrators always may.',
});

/** The members that hold permissions, in records and requests. */
export const permissionMembers = { role: RoleSchema, canChangeProtected: ProtectedSchema } as const;

const identityMembers = {
  id: z.string(),
  email: EmailSchema,
  name: z.string().openapi({ maxLength: MAX_TEXT.label }),
  ...permissionMembers,
} as const;

/** An operator as the API returns it. */
export const OperatorRecordSchema = z
  .object({
    ...identityMembers,
    createdAt: TimeSchema,
    lastSeenAt: TimeSchema.optional().openapi({ description: 'Only shown to administrators.' }),
  })
  .openapi('Operator');

/** Whether the browser is signed in, and as whom. */
export const SessionSchema = z
  .object({
    signedIn: z.boolean(),
    setupNeeded: z.boolean().openapi({ description: '`true` until the first operator exists.' }),
    operator: z.object(identityMembers).optional(),
    expiresAt: TimeSchema.optional().openapi({
      description: 'When the session ends if it is not used again.',
    }),
    evaluationUrl: z.string().optional().openapi({
      description: 'Where programs read flags, when management has its own address.',
    }),
    ...seqMember,
  })
  .openapi('Session');

/** The purpose of a link, for its holder. */
export const LinkSchema = z.object({
  kind: z.enum(INVITATION_KINDS),
  email: EmailSchema.optional(),
  role: RoleSchema.optional(),
  expiresAt: TimeSchema,
});

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

/** A link that was just created. */
export const OfferedLinkSchema = InvitationRecordSchema.extend({
  token: z.string(),
  link: z.string().openapi({
    description: 'Send it to the person. The secret follows the `#`, which browsers do not send.',
  }),
  ...seqMember,
}).openapi('OfferedLink');

/** An access token without the token itself. */
export const TokenRecordSchema = z
  .object({ ...lifetimeMembers, ...permissionMembers })
  .openapi('AccessToken');
