import { ROLES } from '@halyard/protocol';
import { damageOf, isoTime, isoTimeOr } from '../../management/api/answers.ts';
import {
  LimitSchema,
  permissionMembers,
  rightsMembers,
  rightsRecord,
} from '../../management/api/rights-schemas.ts';
import { LabelSchema, lifetimeMembers, seqMember, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { AccessToken } from './access-token.ts';

const ExemptSchema = z.boolean().optional().openapi({
  description:
    'Whether its changes need no approval, because people have reviewed them before (a pipeline, for example).',
});

const ExpirySchema = TimeSchema.nullable()
  .optional()
  .openapi({ description: 'Default: in 90 days. `null`: never.' });

/** The caller of an operation. */
export const WhoAmISchema = z.object({
  name: z.string(),
  ...permissionMembers,
  only: LimitSchema.optional(),
});

/** An access token without the token itself. */
export const TokenRecordSchema = z
  .object({
    ...lifetimeMembers,
    ...permissionMembers,
    only: LimitSchema.optional(),
    exempt: ExemptSchema,
    owner: z.string().optional().openapi({
      description:
        'The e-mail of the person to whom it belongs: it does no more than they may, and ends with them.',
    }),
  })
  .openapi('AccessToken');

/** A new access token. */
export const NewTokenSchema = z.strictObject({
  name: LabelSchema,
  ...rightsMembers,
  only: LimitSchema.optional(),
  exempt: ExemptSchema,
  expiresAt: ExpirySchema,
});

/** A new token of the caller. */
export const NewOwnTokenSchema = z.strictObject({
  name: LabelSchema,
  role: z
    .enum(ROLES)
    .optional()
    .openapi({ description: 'The highest role that it has. Default: what you may do now.' }),
  canChangeProtected: z.boolean().optional(),
  only: LimitSchema.optional(),
  expiresAt: ExpirySchema,
});

/** A new access token with the token itself, which is shown only once. */
export const CreatedTokenSchema = TokenRecordSchema.extend({ token: z.string(), ...seqMember }).openapi(
  'CreatedAccessToken',
);

/** The answer about an access token. */
export function tokenRecord(token: AccessToken) {
  return {
    id: token.id,
    name: token.name,
    ...rightsRecord(token),
    only: token.only,
    exempt: token.exempt,
    owner: token.owner,
    createdAt: isoTime(token.createdAt),
    expiresAt: isoTimeOr(token.expiresAt),
    revokedAt: isoTimeOr(token.revokedAt),
    lastUsedAt: isoTimeOr(token.lastUsedAt),
    ...damageOf(token),
  };
}
