import { memberText } from '@halyard/protocol';
import { z } from '@hono/zod-openapi';
import { readState } from '../../domain/flag-state-text.ts';
import type { StoredState } from '../../domain/project.ts';
import { done, ok } from '../api/answers.ts';
import type { ManagementApp } from '../api/environment.ts';
import { mount } from '../api/operation.ts';
import {
  DoneSchema,
  EnvironmentRecordSchema,
  FlagStateSchema,
  KeyedStateSchema,
  NameSchema,
  StatePatchSchema,
  StateWrittenSchema,
} from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';
import type { Written } from '../write.ts';
import { stateRecord } from './flag-routes.ts';
import { deleteState, getState, listStates, patchState, putState, type StateWritten } from './flag-states.ts';
import { expectedRevision, revisionTag } from './preconditions.ts';

const tag = 'Flag states';
const path = '/api/projects/{project}/environments/{environment}/flags';
const one = `${path}/{key}` as const;
const tagOf = 'The revision in which this state was written.';
const places = ['project_not_found', 'environment_not_found'] as const;
/** A protected environment wants the change confirmed. */
const guarded = [...places, 'confirmation_required'] as const;
const refusals = [...guarded, 'flag_archived'] as const;

/** Mounts the routes of flag states in one environment. */
export function mountFlagStates(app: ManagementApp, context: ManagementContext): void {
  mountReads(app, context);
  const answer = { status: 200, description: 'The state.', schema: StateWrittenSchema, tagOf } as const;
  const conditions = ['If-Match', 'If-None-Match'] as const;
  mount(
    app,
    {
      ...{ method: 'put', path: one, id: 'putFlagState', tag, answer, conditions, errors: refusals },
      role: 'editor',
      summary: 'Replace a whole state; flag and state are made where missing',
      body: { schema: FlagStateSchema },
    },
    async ({ params, text, actor, request }) => {
      const expected = expectedRevision(request.headers);
      return written(await putState(context, actor, { ...params, state: readState(text), expected }));
    },
  );
  mount(
    app,
    {
      ...{ method: 'patch', path: one, id: 'patchFlagState', tag, answer, conditions, errors: refusals },
      role: 'editor',
      summary: 'Change parts of a state, beginning with a disabled one where there is none',
      body: { schema: StatePatchSchema },
    },
    async ({ params, body: { enabled, rolloutPct, unset }, text, actor, request }) => {
      const valueText = memberText(text, ['value']);
      const patch = {
        ...(enabled === undefined ? {} : { enabled }),
        ...(valueText === undefined ? {} : { valueText }),
        ...(rolloutPct === undefined ? {} : { rolloutPct }),
        ...(unset === undefined ? {} : { unset }),
      };
      const expected = expectedRevision(request.headers);
      return written(await patchState(context, actor, { ...params, patch, expected }));
    },
  );
  mount(
    app,
    {
      ...{ method: 'delete', path: one, id: 'deleteFlagState', tag, errors: [...guarded, 'flag_not_found'] },
      role: 'editor',
      summary: 'Remove the state from this environment; the flag stays',
      conditions: ['If-Match'],
      answer: { status: 200, schema: DoneSchema, description: 'It is gone.' },
    },
    async ({ params, actor, request }) =>
      done(await deleteState(context, actor, { ...params, expected: expectedRevision(request.headers) })),
  );
}

function mountReads(app: ManagementApp, context: ManagementContext): void {
  mount(
    app,
    {
      ...{ method: 'get', path, id: 'listFlagStates', tag, errors: places },
      role: 'viewer',
      summary: 'Every state of an environment',
      answer: {
        status: 200,
        description: 'The states, by key.',
        tagOf: 'The revision of the environment.',
        schema: z.object({
          environment: NameSchema,
          revision: EnvironmentRecordSchema.shape.revision,
          flags: z.array(KeyedStateSchema),
        }),
      },
    },
    async ({ params }) => {
      const { environment, states } = await listStates(context, params);
      const { name, revision } = environment;
      return ok({ environment: name, revision, flags: states.map(keyed) }, { ETag: revisionTag(revision) });
    },
  );
  mount(
    app,
    {
      ...{ method: 'get', path: one, id: 'getFlagState', tag, errors: [...places, 'flag_not_found'] },
      role: 'viewer',
      summary: 'One state of an environment',
      answer: { status: 200, description: 'The state.', schema: KeyedStateSchema, tagOf },
    },
    async ({ params }) => {
      const state = await getState(context, params);
      return ok(keyed(state), { ETag: revisionTag(state.revision) });
    },
  );
}

function keyed(stored: StoredState) {
  return { key: stored.flagKey, ...stateRecord(stored) };
}

function written({ stored, changed, environmentRevision, seq }: Written<StateWritten>): Response {
  return ok({ ...keyed(stored), changed, environmentRevision, seq }, { ETag: revisionTag(stored.revision) });
}
