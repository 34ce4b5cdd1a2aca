import { defined } from '@halyard/protocol';
import { rawJson } from '../../domain/raw-json.ts';
import { ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import {
  dryRunQuery,
  EnvironmentRecordSchema,
  FlagKeySchema,
  FlagStateSchema,
  NameSchema,
  seqMember,
} from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { expectedRevision, revisionTag } from '../flags/preconditions.ts';
import { compareEnvironments, copyStates } from './copy.ts';

const tag = 'Compare and copy';
const Revision = EnvironmentRecordSchema.shape.revision;
const PlaceSchema = z.object({ environment: NameSchema, revision: Revision });

/** The answer of a comparison of two environments. */
export const ComparisonSchema = z.object({
  from: PlaceSchema,
  to: PlaceSchema,
  differences: z.array(
    z.object({ key: FlagKeySchema, from: FlagStateSchema.optional(), to: FlagStateSchema.optional() }),
  ),
});

/** The answer of a copy. */
export const CopiedSchema = z.object({
  environment: NameSchema,
  revision: Revision,
  fromRevision: Revision,
  changed: z.array(FlagKeySchema),
  ...seqMember,
  differences: z.array(
    z.object({ key: FlagKeySchema, before: FlagStateSchema.optional(), after: FlagStateSchema.optional() }),
  ),
});

/** Mounts the routes that compare environments and copy states between them. */
export function mountCopy(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, tag);
  mountCompare(app, context);

  mount({
    method: 'post',
    path: '/api/projects/{project}/environments/{environment}/copy',
    id: 'copyFlagStates',
    needsApproval: true,
    isHeavy: true,
    role: 'editor',
    setsStates: true,
    summary: 'Copy states from another environment as one change: one revision, one frame',
    query: dryRunQuery,
    body: {
      schema: z.strictObject({
        from: NameSchema,
        keys: z.array(FlagKeySchema).optional().openapi({ description: 'Only these flags.' }),
        deletes: z
          .boolean()
          .default(false)
          .openapi({ description: 'Also remove the states that the other environment lacks.' }),
        fromRevision: Revision.optional().openapi({
          description: 'The expected revision of `from`; at any other revision nothing is copied.',
        }),
      }),
    },
    conditions: ['If-Match'],
    answer: {
      description: 'The environment now, and the states that were or would be copied.',
      tagOf: 'The revision of the environment.',
      schema: CopiedSchema,
    },
    handle: async ({
      params,
      query: { dryRun },
      body: { from, keys, deletes, fromRevision },
      actor,
      request,
    }) => {
      const { differences, ...copied } = await copyStates(context, actor, {
        ...params,
        from,
        extras: deletes ? 'delete' : 'keep',
        ...defined({ keys, fromRevision }),
        expected: expectedRevision(request.headers),
        mode: dryRun === 'true' ? 'preview' : 'apply',
      });

      const steps = differences.map(({ key, before, after }) => ({
        key,
        before: rawJson(before),
        after: rawJson(after),
      }));
      return ok({ ...copied, differences: steps }, { ETag: revisionTag(copied.revision) });
    },
  });
}

function mountCompare(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, tag);
  mount({
    method: 'get',
    path: '/api/projects/{project}/compare',
    id: 'compareEnvironments',
    isHeavy: true,
    role: 'viewer',
    summary: 'Compare the states of two environments',
    query: z.strictObject({ from: NameSchema, to: NameSchema }),
    answer: {
      description: 'Both revisions, and the flags that differ, by key.',
      schema: ComparisonSchema,
    },
    errors: ['environment_not_found'],
    handle: async ({ params, query, actor }) => {
      const { from, to, differences } = await compareEnvironments(context, actor, { ...params, ...query });
      return ok({
        from: { environment: from.name, revision: from.revision },
        to: { environment: to.name, revision: to.revision },
        differences: differences.map((one) => ({
          key: one.key,
          from: rawJson(one.from),
          to: rawJson(one.to),
        })),
      });
    },
  });
}
