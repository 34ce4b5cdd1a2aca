import { defined, memberText } from '@halyard/protocol';
import type { Logger } from 'pino';
import { readState } from '../../domain/flag-state-text.ts';
import { namedValuesOf, nameOfStateValue, readNamedValues } from '../../domain/named-values.ts';
import { detailsOf, detailsRecord, type FlagDetails, type StateText } from '../../domain/project.ts';
import type { Writable } from '../../domain/raw-json.ts';
import { readEntries } from '../../domain/strict-members.ts';
import { logFailure } from '../../http/errors.ts';
import { created, done, isoTime, isoTimeOr, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { listAnswer, nextMember, pageOf, pageQuery } from '../../management/api/pages.ts';
import {
  DoneSchema,
  FlagKeySchema,
  FlagRecordSchema,
  FlagStateSchema,
  flagDetailMembers,
  ListedFlagSchema,
  NameSchema,
  seqMember,
  TimeSchema,
  valuesQuery,
} from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { Written } from '../../management/write.ts';
import { stateRecord, type Values } from '../states/state-schemas.ts';
import { detailsRevision } from './details-revision.ts';
import { type ArchiveOutcome, archiveFlag, archiveFlags, MAX_BULK, restoreFlag } from './flag-archive.ts';
import { ARCHIVED_CHOICES, listFlags } from './flag-list.ts';
import { createFlag, deleteFlag, type FlagWithStates, getFlag, updateFlag } from './flags.ts';
import { expectedRevision } from './preconditions.ts';

const tag = 'Flags';
const path = '/api/projects/{project}/flags';

const DetailsSchema = z.strictObject(flagDetailMembers);

/** Which flags to list, and how. */
const LIST_QUERY = z.strictObject({
  archived: z
    .enum(ARCHIVED_CHOICES)
    .default('false')
    .openapi({ description: 'Flags in use (`false`), archived ones (`true`), or all.' }),
  q: z.string().optional().openapi({ description: 'Text to find in the key, description, tags or owner.' }),
  tag: z.string().optional().openapi({ description: 'An exact tag.' }),
  owner: z.string().optional().openapi({ description: 'An exact owner.' }),
  unchangedSince: TimeSchema.optional().openapi({
    description:
      'Only stale flags: those that have been the same in every environment since this time. Leaves out permanent flags.',
  }),
  ...valuesQuery,
  ...pageQuery,
});

/** Mounts the routes of flags at project level. */
export function mountFlags(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, tag);
  mount({
    method: 'get',
    path,
    id: 'listFlags',
    isHeavy: true,
    role: 'viewer',
    summary: 'List the flags of a project with their states in every environment',
    query: LIST_QUERY,
    answer: {
      description: 'The flags, by key.',
      schema: z.object({ flags: z.array(ListedFlagSchema), ...nextMember }),
    },
    handle: async ({
      params,
      query: { archived, q, tag, owner, unchangedSince: since, values, ...query },
      actor,
    }) => {
      const page = pageOf(query, ['key'] as const);
      const unchangedSince = since === undefined ? undefined : Date.parse(since);
      const filter = defined({ archived, text: q, tag, owner, unchangedSince, page });
      const { flags, next } = await listFlags(context, actor, params.project, filter);
      const place = ({ key }: FlagWithStates) => [key] as const;
      const record = (flag: FlagWithStates) => flagRecord(flag, values);
      return ok(listAnswer('flags', flags, { page, record, place, next }));
    },
  });

  mount({
    method: 'post',
    path,
    id: 'createFlag',
    needsApproval: true,
    role: 'editor',
    summary: 'Create a flag, optionally with its first states',
    body: {
      schema: z.strictObject({
        key: FlagKeySchema,
        ...flagDetailMembers,
        states: z.record(NameSchema, FlagStateSchema).optional(),
      }),
    },
    answer: { status: 201, description: 'The flag.', schema: FlagRecordSchema.extend(seqMember) },
    errors: ['environment_not_found', 'already_exists'],
    handle: async ({ params, body: { key, states: _, ...details }, text, actor }) => {
      const given = detailsIn(details, text);
      const input = { project: params.project, key, states: readStates(text), ...given };
      return created(flagRecord(await createFlag(context, actor, input)));
    },
  });

  mount({
    method: 'get',
    path: `${path}/{key}`,
    id: 'getFlag',
    isHeavy: true,
    role: 'viewer',
    summary: 'Read one flag with its states in every environment',
    answer: { description: 'The flag.', schema: FlagRecordSchema },
    errors: ['flag_not_found'],
    handle: async ({ params, actor }) => ok(flagRecord(await getFlag(context, actor, params))),
  });

  mount({
    method: 'patch',
    path: `${path}/{key}`,
    id: 'updateFlag',
    role: 'editor',
    summary:
      'Change the details of a flag: description, tags, owner, permanence, kind of value, named values',
    conditions: ['If-Match'],
    body: { schema: DetailsSchema },
    answer: { description: 'The flag.', schema: FlagRecordSchema.extend(seqMember) },
    errors: ['flag_not_found'],
    handle: async ({ params, body, text, actor, request }) => {
      const expected = expectedRevision(request.headers);
      const input = { ...params, ...detailsIn(body, text), expected };
      return ok(flagRecord(await updateFlag(context, actor, input)));
    },
  });

  mount({
    method: 'delete',
    path: `${path}/{key}`,
    id: 'deleteFlag',
    needsApproval: true,
    isHeavy: true,
    role: 'admin',
    summary: 'Delete an archived flag; with `archive=true` also a flag in use',
    query: z.strictObject({
      archive: z.enum(['true', 'false']).default('false').openapi({
        description: '`true`: also delete a flag in use, with its states.',
      }),
    }),
    answer: { schema: DoneSchema, description: 'The flag is deleted.' },
    errors: ['flag_not_found', 'flag_not_archived'],
    handle: async ({ params, query, actor }) =>
      done(await deleteFlag(context, actor, { ...params, inUse: query.archive === 'true' })),
  });
}

/** A flag as it is answered; in a list, with `values`, without its named values. */
function flagRecord(flag: Written<FlagWithStates>, values?: Values): Writable {
  const { key, createdAt, archivedAt, states, seq } = flag;
  const { namedValues, ...details } = detailsRecord(detailsOf(flag));
  const named = namedValuesOf(flag.namedValues);
  const environments = [...states].map(([name, state]) => {
    const valueName = nameOfStateValue(named, state.state);
    return [name, { ...stateRecord(state, values), valueName }] as const;
  });

  const isListed = values !== undefined;

  return {
    key,
    ...details,
    namedValues: named.length === 0 || isListed ? undefined : namedValues,
    hasNamedValues: named.length > 0 && isListed ? true : undefined,
    detailsRevision: isListed ? undefined : detailsRevision(flag),
    createdAt: isoTime(createdAt),
    archivedAt: isoTimeOr(archivedAt),
    environments: new Map(environments),
    seq,
  };
}

/** The details of a body; the named values with the text of their values. */
function detailsIn(
  { namedValues: _, ...details }: z.infer<typeof DetailsSchema>,
  text: string,
): Partial<FlagDetails> {
  const listText = memberText(text, ['namedValues']);
  const namedValues = listText === undefined ? undefined : readNamedValues(listText, 'namedValues');
  return { ...defined(details), ...defined({ namedValues }) };
}

function readStates(text: string): ReadonlyMap<string, StateText> {
  const states = memberText(text, ['states']);
  if (states === undefined) return new Map();
  return new Map(
    [...readEntries(states, 'states')].map(([name, state]) => [name, readState(state, `states.${name}`)]),
  );
}

/** The answer of an archive of several flags. */
export const ArchivedFlagsSchema = z.object({
  results: z.array(
    z.union([
      z.object({ key: FlagKeySchema, archived: z.literal(true), ...seqMember }),
      z.object({ key: FlagKeySchema, error: z.string(), message: z.string() }),
    ]),
  ),
});

/** Mounts the routes that archive and restore one flag. */
export function mountFlagArchive(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, tag);
  const answer = { description: 'The flag.', schema: FlagRecordSchema.extend(seqMember) };
  mount({
    method: 'post',
    path: `${path}/{key}/archive`,
    id: 'archiveFlag',
    needsApproval: true,
    isHeavy: true,
    role: 'editor',
    summary: 'Archive a flag: it is no longer served, and its states are kept',
    answer,
    errors: ['flag_not_found'],
    handle: async ({ params, actor }) => ok(flagRecord(await archiveFlag(context, actor, params))),
  });

  mount({
    method: 'post',
    path: `${path}/{key}/restore`,
    id: 'restoreFlag',
    needsApproval: true,
    isHeavy: true,
    role: 'editor',
    summary: 'Restore an archived flag with its states',
    answer,
    errors: ['flag_not_found'],
    handle: async ({ params, actor }) => ok(flagRecord(await restoreFlag(context, actor, params))),
  });
}

/** Mounts the route that archives several flags, each in a transaction of its own. */
export function mountBulkArchive(app: ManagementApp, context: ManagementContext, log: Logger): void {
  const { mount } = tagged(app, tag);
  mount({
    method: 'post',
    path: `${path}/archive`,
    id: 'archiveFlags',
    role: 'editor',
    summary: 'Archive several flags, each as its own change',
    body: {
      schema: z.strictObject({ keys: z.array(FlagKeySchema).openapi({ minItems: 1, maxItems: MAX_BULK }) }),
    },
    confirms: true,
    answer: { description: 'The result for each flag.', schema: ArchivedFlagsSchema },
    handle: async ({ params: { project }, body: { keys }, actor, requestId }) => {
      const outcomes = await archiveFlags(context, actor, { project, keys });
      const cause = outcomes.map(failureOf).find((failure) => failure !== undefined);
      if (cause !== undefined) logFailure(cause, { log, requestId });
      return ok({ results: outcomes.map(outcomeRecord) });
    },
  });
}

function outcomeRecord(outcome: ArchiveOutcome) {
  if (!('refusal' in outcome)) return { ...outcome };
  const { key, refusal } = outcome;
  return { key, error: refusal.code, message: refusal.message };
}

/** Why the server failed to archive a flag; `undefined` where it was archived or refused. */
function failureOf(outcome: ArchiveOutcome): unknown {
  return 'refusal' in outcome && outcome.refusal.code === 'internal_error'
    ? outcome.refusal.cause
    : undefined;
}
