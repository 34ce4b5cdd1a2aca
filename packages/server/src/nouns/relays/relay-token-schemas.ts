import { isoTime, isoTimeOr } from '../../management/api/answers.ts';
import { LabelSchema, NameSchema, seqMember, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { NamedRelayToken } from './relay-token.ts';

const scopeMembers = {
  projects: z.array(NameSchema).optional().openapi({ description: 'Absent: all, future ones included.' }),
  environments: z.array(NameSchema).optional().openapi({ description: 'Absent: all.' }),
} as const;

/** A relay token without the token itself. */
export const RelayTokenSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    ...scopeMembers,
    deletedProjects: z.number().int().min(1).optional().openapi({
      description:
        'How many more projects it was made for that were deleted. It gets nothing of a later project of the same name.',
    }),
    createdAt: TimeSchema,
    revokedAt: TimeSchema.optional(),
    lastUsedAt: TimeSchema.optional().openapi({
      description: 'When a relay last followed with it, to about half a minute.',
    }),
  })
  .openapi('RelayToken');

/** A new relay token. */
export const NewRelayTokenSchema = z.strictObject({ name: LabelSchema, ...scopeMembers });

/** A new relay token with the token itself, which is shown only once. */
export const CreatedRelayTokenSchema = RelayTokenSchema.extend({ token: z.string(), ...seqMember }).openapi(
  'CreatedRelayToken',
);

/** The answer about a relay token. */
export function relayTokenRecord(token: NamedRelayToken) {
  const { id, name, projects, deletedProjects, environments, createdAt, revokedAt, lastUsedAt } = token;
  return {
    id,
    name,
    projects: projects && [...projects],
    deletedProjects,
    environments: environments && [...environments],
    createdAt: isoTime(createdAt),
    revokedAt: isoTimeOr(revokedAt),
    lastUsedAt: isoTimeOr(lastUsedAt),
  };
}
