import { z } from '@hono/zod-openapi';
import { rawJson } from '../../domain/raw-json.ts';
import { isoTime, ok } from '../api/answers.ts';
import type { ManagementApp } from '../api/management-app.ts';
import { mount } from '../api/operation.ts';
import { dryRunQuery, FlagKeySchema, NameSchema, seqMember, TimeSchema } from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';
import { readSeq } from '../rules.ts';
import { AuditEntrySchema, entryRecord, seesPeople } from './audit-routes.ts';
import { getChange } from './history.ts';
import { revertChange } from './revert.ts';
import type { RevertDifference } from './revert-plan.ts';

const tag = 'History';

const ChangeSchema = z
  .object({
    seq: z.number().int().openapi({ description: 'Of the last row that it wrote.' }),
    at: TimeSchema,
    actor: z.string(),
    note: z.string().optional(),
    project: NameSchema.optional(),
    environment: NameSchema.optional().openapi({ description: 'Where all of it happened in one.' }),
    revision: z.number().int().optional().openapi({ description: 'The one it made of that environment.' }),
    revertible: z.boolean(),
    entries: z.array(AuditEntrySchema),
  })
  .openapi('Change');

const DifferenceSchema = z
  .object({
    environment: NameSchema.optional().openapi({ description: 'Alone: what it looks like.' }),
    key: FlagKeySchema.optional().openapi({ description: 'Alone: the texts of a flag, or its archiving.' }),
    before: z.unknown().optional(),
    after: z.unknown().optional(),
  })
  .openapi('Difference');

/** Mounts the routes of single changes: what they did, and how to undo it. */
export function mountHistory(app: ManagementApp, context: ManagementContext): void {
  mount(
    app,
    {
      ...{ method: 'get', path: '/api/changes/{seq}', id: 'getChange', tag, role: 'viewer' },
      summary: 'One change: everything that one operation did',
      answer: { status: 200, description: 'The change.', schema: ChangeSchema },
      errors: ['invalid_argument', 'not_found'],
    },
    async ({ params, actor }) => {
      const withoutPeople = !seesPeople(actor);
      const { at, entries, ...change } = await getChange(context, readSeq(params.seq), { withoutPeople });
      return ok({
        ...change,
        at: isoTime(at),
        entries: entries.map((entry) => entryRecord(entry, actor)),
      });
    },
  );
  mount(
    app,
    {
      ...{ method: 'post', path: '/api/changes/{seq}/revert', id: 'revertChange', tag, role: 'editor' },
      summary: 'Put back what a change changed, as a new change',
      query: dryRunQuery,
      body: {
        schema: z.strictObject({
          force: z
            .boolean()
            .default(false)
            .openapi({ description: 'Also where something has changed since.' }),
        }),
      },
      answer: {
        status: 200,
        description: 'What was put back, or would be.',
        schema: z.object({ ...seqMember, differences: z.array(DifferenceSchema) }),
      },
      errors: ['not_found', 'not_revertible', 'flag_archived', 'revision_conflict', 'confirmation_required'],
    },
    async ({ params, query: { dryRun }, body: { force }, actor }) => {
      const { seq, differences } = await revertChange(context, actor, {
        seq: readSeq(params.seq),
        conflicts: force ? 'anyway' : 'refuse',
        mode: dryRun === 'true' ? 'preview' : 'apply',
      });
      return ok({ seq, differences: differences.map(differenceRecord) });
    },
  );
}

/** A difference as it is answered. */
export function differenceRecord({ before, after, ...place }: RevertDifference) {
  return { ...place, before: rawJson(before), after: rawJson(after) };
}
