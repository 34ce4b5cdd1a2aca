import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { rawJson, writeJson } from '../../domain/raw-json.ts';
import { isoTime, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { nextMember, pageQuery, readCursor, writeCursor } from '../../management/api/pages.ts';
import {
  dryRunQuery,
  FlagKeySchema,
  NameSchema,
  seqMember,
  TimeSchema,
} from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { readSeq } from '../../management/rules.ts';
import { type AuditQuery, exportAudit, getChange, listAudit } from './audit.ts';
import { AuditEntrySchema, entryRecord, type NamedAuditEntry } from './audit-schemas.ts';
import { revertChange } from './revert.ts';
import type { RevertDifference } from './revert-plan.ts';

/** Which entries to list, and how. */
const AUDIT_QUERY = z.strictObject({
  project: NameSchema.optional(),
  environment: NameSchema.optional().openapi({ description: 'Requires `project`.' }),
  target: z.string().optional().openapi({ description: 'A flag key, key id or name.' }),
  actor: z.string().optional().openapi({ description: 'The full name, as in `operator:ada@example.com`.' }),
  action: z.string().optional().openapi({
    description: 'An action such as `flag.archived`, or a noun for all of its actions: `flag`.',
  }),
  q: z.string().optional().openapi({ description: 'A text in the target, the actor or the note.' }),
  since: TimeSchema.optional().openapi({ description: 'Only entries at or after this time.' }),
  until: TimeSchema.optional().openapi({ description: 'Only entries before this time.' }),
  before: z.coerce
    .number()
    .int()
    // An empty text would count as 0, and hide all entries.
    .min(1)
    .optional()
    .openapi({ type: 'integer', minimum: 1, description: 'Only entries with a smaller `seq`.' }),
  cursor: pageQuery.cursor,
  limit: z.coerce.number().int().min(1).max(1000).default(100),
  format: z
    .enum(['json', 'ndjson'])
    .default('json')
    .openapi({ description: '`ndjson` returns all entries, one per line, regardless of the limit.' }),
});

/** Mounts the route of the audit log. */
export function mountAudit(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Audit log');
  mount({
    method: 'get',
    path: '/api/audit',
    id: 'listAudit',
    readsAudit: true,
    isHeavy: true,
    role: 'viewer',
    scope: 'visible',
    summary:
      'List audit entries, newest first; the last change is complete even beyond the limit. Only administrators see entries about people and tokens',
    query: AUDIT_QUERY,
    answer: {
      description: 'The entries.',
      schema: z.object({
        entries: z.array(AuditEntrySchema),
        next: nextMember.next.openapi({
          description:
            'The `cursor` of the entries after these; absent at the end of the log. An answer may have fewer entries ' +
            'than `limit`, or none, and still a `next`: a search ends after two seconds, and a page after 4 MiB.',
        }),
      }),
      mediaTypes: ['application/json', 'application/x-ndjson'],
    },
    errors: ['project_not_found', 'environment_not_found'],
    handle: async ({ query: { limit, format, cursor, ...filter }, actor }) => {
      const after = cursor === undefined ? undefined : readCursor(cursor, [0, 0, 0] as const);
      const query = { ...queryOf(filter), reader: actor, ...defined({ after }) };

      if (format === 'ndjson') return exportAnswer(exportAudit(context, query), actor);

      const { entries, next } = await listAudit(context, { ...query, limit });
      const records = entries.map((entry) => entryRecord(entry, actor));
      return ok({ entries: records, next: next && writeCursor(next) });
    },
  });
}

type Filter = Omit<z.infer<typeof AUDIT_QUERY>, 'cursor' | 'limit' | 'format'>;

function queryOf({ q, since, until, ...same }: Filter): Omit<AuditQuery, 'limit' | 'reader'> {
  return defined({
    ...same,
    text: q,
    since: since === undefined ? undefined : Date.parse(since),
    until: until === undefined ? undefined : Date.parse(until),
  });
}

/** One line per entry. The first page is read before the answer starts, so that a refusal is still an error answer. */
async function exportAnswer(
  pages: AsyncGenerator<readonly NamedAuditEntry[], void>,
  reader: Actor,
): Promise<Response> {
  const encoder = new TextEncoder();
  let next = await pages.next();
  const lines = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      if (next.done === true) return controller.close();
      controller.enqueue(encoder.encode(linesOf(next.value, reader)));
      next = await pages.next();
    },
    cancel: async () => {
      await pages.return();
    },
  });
  return new Response(lines, {
    headers: {
      'Content-Type': 'application/x-ndjson',
      'Content-Disposition': 'attachment; filename="halyard-audit.ndjson"',
    },
  });
}

function linesOf(entries: readonly NamedAuditEntry[], reader: Actor): string {
  return entries.map((entry) => `${writeJson(entryRecord(entry, reader))}\n`).join('');
}

const ChangeSchema = z
  .object({
    seq: z.number().int().openapi({ description: 'The number of the last log row that it wrote.' }),
    at: TimeSchema,
    actor: z.string(),
    note: z.string().optional(),
    project: NameSchema.optional(),
    environment: NameSchema.optional().openapi({
      description: 'Present when all entries are in one environment.',
    }),
    revision: z
      .number()
      .int()
      .optional()
      .openapi({ description: 'The revision of that environment that it made.' }),
    revertible: z.boolean(),
    entries: z.array(AuditEntrySchema),
  })
  .openapi('Change');

const DifferenceSchema = z
  .object({
    environment: NameSchema.optional().openapi({
      description: 'Without `key`: the appearance of the environment.',
    }),
    key: FlagKeySchema.optional().openapi({
      description: 'Without `environment`: the texts of the flag, or whether it is archived.',
    }),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
  })
  .openapi('RevertedDifference');

/** The changes of a revert, made or previewed. */
export const RevertedSchema = z.object({ ...seqMember, differences: z.array(DifferenceSchema) });

/** Mounts the routes that show and revert one change. */
export function mountHistory(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'History');
  mount({
    method: 'get',
    path: '/api/changes/{seq}',
    id: 'getChange',
    isHeavy: true,
    role: 'viewer',
    scope: 'visible',
    summary: 'Get one change: everything that one operation did',
    answer: { description: 'The change.', schema: ChangeSchema },
    errors: ['invalid_argument', 'not_found'],
    handle: async ({ params, actor }) => {
      const { at, entries, ...change } = await getChange(context, actor, readSeq(params.seq));
      return ok({
        ...change,
        at: isoTime(at),
        entries: entries.map((entry) => entryRecord(entry, actor)),
      });
    },
  });

  mount({
    method: 'post',
    path: '/api/changes/{seq}/revert',
    id: 'revertChange',
    needsApproval: true,
    isHeavy: true,
    role: 'editor',
    scope: 'visible',
    summary: 'Revert a change with a new change',
    query: dryRunQuery,
    body: {
      schema: z.strictObject({
        force: z.boolean().default(false).openapi({ description: 'Also revert what has changed since.' }),
      }),
    },
    answer: {
      description: 'The differences that were, or would be, reverted.',
      schema: RevertedSchema,
    },
    errors: ['not_found', 'not_revertible', 'flag_archived', 'revision_conflict'],
    handle: async ({ params, query: { dryRun }, body: { force }, actor }) => {
      const { seq, differences } = await revertChange(context, actor, {
        seq: readSeq(params.seq),
        conflicts: force ? 'anyway' : 'refuse',
        mode: dryRun === 'true' ? 'preview' : 'apply',
      });
      return ok({ seq, differences: differences.map(differenceRecord) });
    },
  });
}

/** A difference as the API returns it. */
function differenceRecord({ before, after, ...place }: RevertDifference) {
  return { ...place, before: rawJson(before), after: rawJson(after) };
}
