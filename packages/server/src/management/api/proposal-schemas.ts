import { PROPOSAL_STATUSES } from '@halyard/protocol';
import { NameSchema, TimeSchema } from './schemas.ts';
import { z } from './zod.ts';

const Author = z.string().openapi({
  description: 'As in the audit log: `operator:<e-mail>` or `token:<name>`.',
  example: 'operator:ada@example.com',
});

/** One record that a proposal changes, as the audit log will have it. */
const EffectSchema = z
  .object({
    action: z.string().openapi({ example: 'flag.changed' }),
    environment: NameSchema.optional(),
    target: z.string().openapi({ description: 'The flag key or the name; new for a new record.' }),
    before: z
      .unknown()
      .optional()
      .openapi({ description: 'The record as it was then; absent where there was none.' }),
    after: z
      .unknown()
      .optional()
      .openapi({ description: 'The record as it will be; absent where it is removed.' }),
  })
  .openapi('Effect');

/** A proposal as it is answered. */
export const ProposalSchema = z
  .object({
    id: z.string(),
    project: NameSchema,
    status: z.enum(PROPOSAL_STATUSES),
    environments: z.array(NameSchema).openapi({ description: 'Those that require the approvals.' }),
    operation: z
      .string()
      .openapi({ description: 'The operation that it carries out.', example: 'patchFlagState' }),
    request: z
      .object({
        method: z.string(),
        path: z.string(),
        type: z.string().optional(),
        body: z.string().optional(),
      })
      .optional()
      .openapi({ description: 'The request that it repeats; only where one proposal is read.' }),
    effects: z.array(EffectSchema),
    author: Author,
    person: Author.optional().openapi({ description: 'Who created the token that is the author.' }),
    note: z.string().optional(),
    required: z.number().int().openapi({ description: 'How many other people had to approve it at first.' }),
    hold: z.boolean().openapi({ description: 'Whether it waits for a person once it is approved.' }),
    approvals: z.array(z.object({ by: Author, at: TimeSchema })),
    createdAt: TimeSchema,
    expiresAt: TimeSchema,
    settledAt: TimeSchema.optional(),
    settledBy: Author.optional(),
    outcome: z.string().optional().openapi({ description: 'Why it ended.' }),
    seq: z.number().int().optional().openapi({
      description: 'The change that it made; in the answer of a decision, the decision itself.',
    }),
  })
  .openapi('Proposal');
