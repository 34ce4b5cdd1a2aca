import { NameSchema, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';

/** A published environment in answers. */
export const PublicationSchema = z
  .object({
    environment: NameSchema,
    path: z
      .string()
      .openapi({ description: 'Where its files are, below the address to which nodes publish.' }),
    createdAt: TimeSchema,
    environmentRevision: z.number().int().openapi({ description: 'The newest revision of the environment.' }),
    revision: z
      .number()
      .int()
      .optional()
      .openapi({ description: 'The newest revision in the storage; smaller while nodes are behind.' }),
    publishedAt: TimeSchema.optional().openapi({ description: 'When that was written.' }),
  })
  .openapi('Publication');
