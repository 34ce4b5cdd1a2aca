import { ROLES, WEBHOOK_EVENTS } from '@halyard/protocol';
import { LabelSchema, NameSchema, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';

/** A project key in a document. */
export const DeclaredKeySchema = z.strictObject({
  name: LabelSchema,
  environments: z.array(NameSchema).min(1),
  expiresAt: TimeSchema.optional(),
});

/** A webhook in a document. */
export const DeclaredWebhookSchema = z.strictObject({
  name: NameSchema,
  url: z.string().openapi({
    description:
      'Its address. One that ends with `…` is not shown, and stands for the one that the webhook has.',
  }),
  format: z.enum(['json', 'slack']).optional(),
  environments: z.array(NameSchema).optional(),
  events: z.array(z.enum(WEBHOOK_EVENTS)).optional(),
  paused: z.boolean().optional(),
});

/** A person with a role in the project, in a document. */
export const DeclaredMemberSchema = z.strictObject({
  email: z.string(),
  role: z.enum(ROLES),
  canChangeProtected: z.boolean().optional(),
});

/** The sections of a document beside its flags. */
export const sectionMembers = {
  keys: z.array(DeclaredKeySchema).optional(),
  webhooks: z.array(DeclaredWebhookSchema).optional(),
  members: z.array(DeclaredMemberSchema).optional(),
} as const;

const MemberRoleSchema = DeclaredMemberSchema.omit({ email: true });

/** What an import changes in the sections, or would change. Secrets are there once, after the import. */
export const sectionPlanMembers = {
  keysCreated: z.array(
    DeclaredKeySchema.extend({
      id: z.string().optional(),
      key: z.string().optional().openapi({ description: 'The key itself, shown this once.' }),
    }),
  ),
  keysRevoked: z.array(z.object({ id: z.string(), name: LabelSchema })),
  webhooksCreated: z.array(
    z.object({
      name: NameSchema,
      secret: z.string().optional().openapi({ description: 'The secret, shown this once.' }),
    }),
  ),
  webhooksUpdated: z.array(z.object({ name: NameSchema })),
  webhooksDeleted: z.array(NameSchema),
  membersChanged: z.array(
    z.object({
      email: z.string(),
      before: MemberRoleSchema.optional(),
      after: MemberRoleSchema.optional(),
    }),
  ),
} as const;
