import { z } from '@hono/zod-openapi';
import { RawJson, type Writable } from '../../domain/raw-json.ts';
import { listAudit, type NamedAuditEntry } from '../../management/audit.ts';
import type { ManagementContext } from '../../management/context.ts';
import { isoTime, ok } from './answers.ts';
import type { ManagementApp } from './environment.ts';
import { mount } from './operation.ts';
import { NameSchema, TimeSchema } from './schemas.ts';

const EntrySchema = z
  .object({
    id: z.string(),
    seq: z.number().int(),
    actor: z.string(),
    ip: z.string().optional(),
    note: z.string().optional(),
    action: z.string().openapi({ example: 'flag.changed' }),
    project: NameSchema.optional(),
    environment: NameSchema.optional(),
    target: z.string(),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
    at: TimeSchema,
  })
  .openapi('AuditEntry');

/** Mounts the route of the audit log. */
export function mountAudit(app: ManagementApp, context: ManagementContext): void {
  mount(
    app,
    {
      ...{ method: 'get', path: '/api/audit', id: 'listAudit', tag: 'Audit log' },
      role: 'viewer',
      summary: 'Who changed what, newest first; the last change is given whole even beyond the limit',
      query: z.strictObject({
        project: NameSchema.optional(),
        environment: NameSchema.optional().openapi({ description: 'Needs `project` beside it.' }),
        target: z.string().optional().openapi({ description: 'A flag key, key id or name.' }),
        before: z.coerce
          .number()
          .int()
          .min(0)
          .optional()
          .openapi({ type: 'integer', description: 'Only a smaller `seq`.' }),
        limit: z.coerce.number().int().min(1).max(1000).default(100),
      }),
      answer: {
        status: 200,
        description: 'The entries.',
        schema: z.object({ entries: z.array(EntrySchema) }),
      },
      errors: ['project_not_found', 'environment_not_found'],
    },
    async ({ query: { project, environment, target, before, limit } }) => {
      const entries = await listAudit(context, {
        ...(project === undefined ? {} : { project }),
        ...(environment === undefined ? {} : { environment }),
        ...(target === undefined ? {} : { target }),
        ...(before === undefined ? {} : { before }),
        limit,
      });
      return ok({ entries: entries.map(entryRecord) });
    },
  );
}

function entryRecord(entry: NamedAuditEntry): Writable {
  const { id, seq, actor, ip, note, action, project, environment, target, before, after, at } = entry;
  const what = { id, seq, actor, ip, note, action, project, environment, target };
  return { ...what, before: raw(before), after: raw(after), at: isoTime(at) };
}

/** A text from the log as JSON; a damaged one as a string, so that the list can be read all the same. */
function raw(text: string | undefined): Writable | undefined {
  if (text === undefined) return undefined;
  try {
    JSON.parse(text);
    return new RawJson(text);
  } catch {
    // Damaged, see above.
    return text;
  }
}
