import { defined } from '@halyard/protocol';
import { ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { NameSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { AuditEntrySchema, entryRecord } from './audit-schemas.ts';
import { followAudit, seqIn } from './follow.ts';

const FollowedEntrySchema = AuditEntrySchema.extend({
  cursor: z.string().openapi({ description: 'The place of the entry, for `after`.' }),
}).openapi('FollowedAuditEntry');

/** Where to continue, and which entries to send. */
const FOLLOW_QUERY = z.strictObject({
  after: z
    .string()
    .max(50)
    .optional()
    .openapi({
      description:
        'The `next` of the answer before, the `cursor` of an entry, or the `seq` of a change; 0 is the beginning. Without it, the answer ' +
        'has no entries, and a `next` after all that are there.',
      example: '812',
    }),
  wait: z.enum(['true', 'false']).default('false').openapi({
    description: 'Whether to wait for a new change, for about five seconds, if there is none yet.',
  }),
  project: NameSchema.optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(500),
});

/** Mounts the route that follows the audit log. */
export function mountFollow(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Audit log');
  mount({
    method: 'get',
    path: '/api/audit/follow',
    id: 'followAudit',
    readsAudit: true,
    isHeavy: true,
    role: 'viewer',
    scope: 'visible',
    summary:
      'Follow the audit log: the entries after a place, oldest first, each exactly once. Only administrators see entries about people and tokens',
    query: FOLLOW_QUERY,
    answer: {
      description: 'The entries.',
      schema: z.object({
        entries: z.array(FollowedEntrySchema),
        next: z.string().openapi({ description: 'Where to continue, also if there are no entries.' }),
        more: z.boolean().openapi({ description: 'Whether there may be more already: then do not wait.' }),
      }),
    },
    errors: ['project_not_found'],
    before: async ({ wait, after = '' }) => {
      const seq = seqIn(after);
      if (wait === 'true' && seq !== undefined) await context.waitForApplied(seq + 1);
    },
    handle: async ({ query: { after, project, limit }, actor }) => {
      const followed = await followAudit(context, { reader: actor, limit, ...defined({ after, project }) });
      const entries = followed.entries.map(({ cursor, ...entry }) => {
        return { ...entryRecord(entry, actor), cursor };
      });
      return ok({ entries, next: followed.next, more: followed.hasMore });
    },
  });
}
