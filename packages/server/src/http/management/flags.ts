import { z } from '@hono/zod-openapi';
import type { StateText, StoredState } from '../../domain/flag.ts';
import { readState } from '../../domain/flag-state-text.ts';
import { memberText } from '../../domain/json-text.ts';
import { RawJson, type Writable } from '../../domain/raw-json.ts';
import { readEntries } from '../../domain/strict-members.ts';
import type { ManagementContext } from '../../management/context.ts';
import {
  createFlag,
  deleteFlag,
  type FlagWithStates,
  getFlag,
  listFlags,
  updateFlag,
} from '../../management/flags.ts';
import { created, isoTime, noContent, ok } from './answers.ts';
import type { ManagementApp } from './environment.ts';
import { mount } from './operation.ts';
import { FlagKeySchema, FlagRecordSchema, FlagStateSchema, flagTextMembers, NameSchema } from './schemas.ts';

const tag = 'Flags';
const path = '/api/projects/{project}/flags';

/** Mounts the routes of flags at project level. */
export function mountFlags(app: ManagementApp, context: ManagementContext): void {
  mount(
    app,
    {
      ...{ method: 'get', path, id: 'listFlags', tag },
      role: 'viewer',
      summary: 'The flags of a project with their states in every environment',
      answer: {
        status: 200,
        description: 'The flags, by key.',
        schema: z.object({ flags: z.array(FlagRecordSchema) }),
      },
      errors: ['project_not_found'],
    },
    async ({ params }) => ok({ flags: (await listFlags(context, params.project)).map(flagRecord) }),
  );
  mount(
    app,
    {
      ...{ method: 'post', path, id: 'createFlag', tag },
      role: 'editor',
      summary: 'Make a flag, perhaps with its first states',
      body: {
        schema: z.strictObject({
          key: FlagKeySchema,
          ...flagTextMembers,
          states: z.record(NameSchema, FlagStateSchema).optional(),
        }),
      },
      answer: { status: 201, description: 'The flag.', schema: FlagRecordSchema },
      errors: ['project_not_found', 'environment_not_found', 'already_exists'],
    },
    async ({ params, body: { key, description, tags }, text, actor }) => {
      const input = { project: params.project, key, states: readStates(text) };
      return created(
        flagRecord(await createFlag(context, actor, { ...input, ...present({ description, tags }) })),
      );
    },
  );
  mount(
    app,
    {
      ...{ method: 'get', path: `${path}/{key}`, id: 'getFlag', tag },
      role: 'viewer',
      summary: 'One flag with its states in every environment',
      answer: { status: 200, description: 'The flag.', schema: FlagRecordSchema },
      errors: ['project_not_found', 'flag_not_found'],
    },
    async ({ params }) => ok(flagRecord(await getFlag(context, params))),
  );
  mount(
    app,
    {
      ...{ method: 'patch', path: `${path}/{key}`, id: 'updateFlag', tag },
      role: 'editor',
      summary: 'Replace the description or the tags of a flag',
      body: { schema: z.strictObject(flagTextMembers) },
      answer: { status: 200, description: 'The flag.', schema: FlagRecordSchema },
      errors: ['project_not_found', 'flag_not_found'],
    },
    async ({ params, body, actor }) =>
      ok(flagRecord(await updateFlag(context, actor, { ...params, ...present(body) }))),
  );
  mount(
    app,
    {
      ...{ method: 'delete', path: `${path}/{key}`, id: 'deleteFlag', tag },
      role: 'admin',
      summary: 'Remove a flag everywhere: one change in each environment that has it',
      answer: { status: 204, description: 'It is gone.' },
      errors: ['project_not_found', 'flag_not_found'],
    },
    async ({ params, actor }) => {
      await deleteFlag(context, actor, params);
      return noContent();
    },
  );
}

/** A state as it is answered: where it stands, and its own text. */
export function stateRecord({ state, revision, updatedAt }: StoredState) {
  return { state: new RawJson(state), revision, updatedAt: isoTime(updatedAt) };
}

function flagRecord({ key, description, tags, createdAt, states }: FlagWithStates): Writable {
  const environments = new Map([...states].map(([name, state]) => [name, stateRecord(state)]));
  return { key, description, tags, createdAt: isoTime(createdAt), environments };
}

function readStates(text: string): ReadonlyMap<string, StateText> {
  const states = memberText(text, ['states']);
  if (states === undefined) return new Map();
  return new Map(
    [...readEntries(states, 'states')].map(([name, state]) => [name, readState(state, `states.${name}`)]),
  );
}

/** The same without the members that are `undefined`, which the schemas' types allow and ours do not. */
function present(text: { description?: string | undefined; tags?: string[] | undefined }) {
  const { description, tags } = text;
  return { ...(description === undefined ? {} : { description }), ...(tags === undefined ? {} : { tags }) };
}
