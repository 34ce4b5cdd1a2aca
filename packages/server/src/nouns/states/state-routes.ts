import { defined, elementsOf, memberText } from '@halyard/protocol';
import { readState } from '../../domain/flag-state-text.ts';
import type { StateOperation, StoredState } from '../../domain/project.ts';
import type { OpenStream } from '../../domain/read-side.ts';
import { done, isoTime, ok, okText } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { listAnswer, nextMember, pageOf, pageQuery } from '../../management/api/pages.ts';
import {
  DoneSchema,
  EnvironmentRecordSchema,
  FlagKeySchema,
  FlagStateSchema,
  KeyedStateSchema,
  ListedKeyedStateSchema,
  NameSchema,
  StatePatchSchema,
  StateWrittenSchema,
  seqMember,
  valueNameMember,
  valuesQuery,
} from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { checkNote } from '../../management/rules.ts';
import type { Written } from '../../management/write.ts';
import { expectedRevision, revisionTag } from '../flags/preconditions.ts';
import { stateRecord, type Values } from './state-schemas.ts';
import type { StateWritten } from './state-writers.ts';
import { applyChange, deleteState, getState, listStates, patchState, putState } from './states.ts';

const tag = 'Flag states';
const path = '/api/projects/{project}/environments/{environment}/flags';
const one = `${path}/{key}` as const;
const tagOf = 'The revision in which this state was written.';

/** Mounts the routes of flag states in one environment. */
export function mountFlagStates(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, tag);
  mountReads(app, context);
  const answer = { description: 'The state.', schema: StateWrittenSchema, tagOf } as const;
  const conditions = ['If-Match', 'If-None-Match'] as const;

  mount({
    method: 'put',
    path: one,
    id: 'putFlagState',
    needsApproval: true,
    answer,
    conditions,
    errors: ['flag_archived'],
    role: 'editor',
    setsStates: true,
    summary: 'Replace a state; the flag and the state are created if missing',
    body: { schema: FlagStateSchema },
    handle: async ({ params, text, actor, request }) => {
      const expected = expectedRevision(request.headers);
      return stateAnswer(await putState(context, actor, { ...params, state: readState(text), expected }));
    },
  });

  mount({
    method: 'patch',
    path: one,
    id: 'patchFlagState',
    needsApproval: true,
    answer,
    conditions,
    errors: ['flag_archived'],
    role: 'editor',
    setsStates: true,
    summary: 'Change members of a state; a missing state starts as disabled',
    body: { schema: StatePatchSchema },
    handle: async ({ params, body: { enabled, rolloutPct, unset }, text, actor, request }) => {
      const patch = defined({ enabled, valueText: memberText(text, ['value']), rolloutPct, unset });
      const expected = expectedRevision(request.headers);
      return stateAnswer(await patchState(context, actor, { ...params, patch, expected }));
    },
  });

  mount({
    method: 'delete',
    path: one,
    id: 'deleteFlagState',
    needsApproval: true,
    errors: ['flag_not_found'],
    role: 'editor',
    setsStates: true,
    summary: 'Delete the state in this environment; the flag stays',
    conditions: ['If-Match'],
    answer: { schema: DoneSchema, description: 'The state is deleted.' },
    handle: async ({ params, actor, request }) =>
      done(await deleteState(context, actor, { ...params, expected: expectedRevision(request.headers) })),
  });
}

function mountReads(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, tag);
  mount({
    method: 'get',
    path,
    id: 'listFlagStates',
    isHeavy: true,
    role: 'viewer',
    summary: 'List the states of an environment',
    query: z.strictObject({ ...valuesQuery, ...pageQuery }),
    answer: {
      description: 'The states, by key.',
      tagOf: 'The revision of the environment.',
      schema: z.object({
        environment: NameSchema,
        revision: EnvironmentRecordSchema.shape.revision,
        flags: z.array(ListedKeyedStateSchema),
        ...nextMember,
      }),
    },
    handle: async ({ params, query: { values, ...query }, actor }) => {
      const page = pageOf(query, ['key'] as const);
      const { environment, states, next } = await listStates(context, actor, { ...params, page });
      const { name, revision } = environment;
      const place = ({ flagKey }: StoredState) => [flagKey] as const;
      const record = (stored: StoredState) => keyed(stored, values);
      const list = listAnswer('flags', states, { page, record, place, next });
      return ok({ environment: name, revision, ...list }, { ETag: revisionTag(revision) });
    },
  });

  mount({
    method: 'get',
    path: one,
    id: 'getFlagState',
    errors: ['flag_not_found'],
    role: 'viewer',
    summary: 'Read one state of an environment',
    answer: { description: 'The state.', schema: KeyedStateSchema.extend(valueNameMember), tagOf },
    handle: async ({ params, actor }) => {
      const { valueName, ...state } = await getState(context, actor, params);
      return ok({ ...keyed(state), valueName }, { ETag: revisionTag(state.revision) });
    },
  });
}

function keyed(stored: StoredState, values?: Values) {
  return { key: stored.flagKey, ...stateRecord(stored, values) };
}

/** (Spec: S14.15) */
function stateAnswer({ stored, before, changed, environmentRevision, seq }: Written<StateWritten>): Response {
  const { flagKey: key, state, revision, updatedAt, updatedBy } = stored;
  const rest = {
    revision,
    updatedAt: isoTime(updatedAt),
    updatedBy: updatedBy || undefined,
    changed,
    environmentRevision,
    seq,
  };
  const texts = [
    `{"key":${JSON.stringify(key)},"state":${state}`,
    ...(changed ? [`"before":${before ?? null}`] : []),
    JSON.stringify(rest).slice(1),
  ];
  return okText(texts.join(','), { seq, headers: { ETag: revisionTag(revision) } });
}

/** Largest body of a change, in bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

/** The answer of a change of several flags. */
export const ChangeWrittenSchema = z.object({
  environment: NameSchema,
  revision: EnvironmentRecordSchema.shape.revision,
  changed: z.array(FlagKeySchema),
  ...seqMember,
});

/** Mounts the route of changes of several flags. */
export function mountChanges(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Flag states');
  mount({
    method: 'post',
    path: '/api/projects/{project}/environments/{environment}/changes',
    id: 'changeFlagStates',
    needsApproval: true,
    role: 'editor',
    setsStates: true,
    summary: 'Change several states at once: one revision, one frame, all or nothing',
    body: {
      maxBytes: MAX_BYTES,
      schema: z.strictObject({
        changes: z.array(z.strictObject({ key: FlagKeySchema, state: z.union([FlagStateSchema, z.null()]) })),
        note: z
          .string()
          .optional()
          .openapi({ description: 'The reason for the change; overrides X-Change-Note.' }),
      }),
    },
    conditions: ['If-Match'],
    answer: {
      description: 'The environment now, and the flags that changed.',
      tagOf: 'The revision of the environment.',
      schema: ChangeWrittenSchema,
    },
    errors: ['flag_archived'],
    handle: async ({ params, body: { changes, note }, text, actor, request }) => {
      if (note !== undefined) checkNote(note);
      const author = note === undefined ? actor : { ...actor, note };
      const operations = readOperations(
        text,
        changes.map(({ key }) => key),
      );
      const expected = expectedRevision(request.headers);
      const written = await applyChange(context, author, { ...params, operations, expected });
      return ok({ ...written }, { ETag: revisionTag(written.revision) });
    },
  });
}

function readOperations(text: string, keys: readonly string[]): readonly StateOperation[] {
  const entries = elementsOf(memberText(text, ['changes']) ?? '[]') ?? [];
  return keys.map((key, index) => {
    const state = memberText(entries[index] ?? '{}', ['state']) ?? 'null';
    return [key, state === 'null' ? null : readState(state, `changes[${index}].state`)];
  });
}

/** Mounts the route of the stream: the frames of `/v1/stream`, for the management plane. */
export function mountStream(app: ManagementApp, openStream: OpenStream): void {
  const { mount } = tagged(app, 'Flag states');
  mount({
    method: 'get',
    path: '/api/projects/{project}/environments/{environment}/stream',
    id: 'streamEnvironment',
    role: 'viewer',
    summary: 'Stream the flag map of an environment, now and after each change, as server-sent events',
    answer: {
      description: 'Events `data: <flag map>`, the first one immediately.',
      schema: z.string(),
      mediaTypes: ['text/event-stream'],
    },
    handle: ({ params, actor: { projectId }, request, stillValid, keepOpen }) => {
      // A stream opened for HEAD would have no reader, and would never be closed.
      if (request.method === 'HEAD')
        return new Response(null, { headers: { 'Content-Type': 'text/event-stream' } });
      const answer = openStream(params.project, params.environment, { request, stillValid, projectId });
      keepOpen();
      return answer;
    },
  });
}
