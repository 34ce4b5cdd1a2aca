import { elementsOf, memberText } from '@halyard/protocol';
import { z } from '@hono/zod-openapi';
import { readState } from '../../domain/flag-state-text.ts';
import type { StateOperation } from '../../domain/project.ts';
import { ok } from '../api/answers.ts';
import type { ManagementApp } from '../api/environment.ts';
import { mount } from '../api/operation.ts';
import {
  EnvironmentRecordSchema,
  FlagKeySchema,
  FlagStateSchema,
  NameSchema,
  seqMember,
} from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';
import { checkNote } from '../rules.ts';
import { applyChange } from './changes.ts';
import { expectedRevision, revisionTag } from './preconditions.ts';

/** Largest body of a change, in bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

/** Mounts the route of changes of several flags. */
export function mountChanges(app: ManagementApp, context: ManagementContext): void {
  mount(
    app,
    {
      method: 'post',
      path: '/api/projects/{project}/environments/{environment}/changes',
      id: 'changeFlagStates',
      tag: 'Flag states',
      role: 'editor',
      summary: 'Write several states as one change: one revision, one frame, all or nothing',
      body: {
        maxBytes: MAX_BYTES,
        schema: z.strictObject({
          changes: z.array(
            z.strictObject({ key: FlagKeySchema, state: z.union([FlagStateSchema, z.null()]) }),
          ),
          note: z.string().optional().openapi({ description: 'Why; takes the place of X-Change-Note.' }),
        }),
      },
      conditions: ['If-Match'],
      answer: {
        status: 200,
        description: 'The environment as it is now, and which flags changed.',
        tagOf: 'The revision of the environment.',
        schema: z.object({
          environment: NameSchema,
          revision: EnvironmentRecordSchema.shape.revision,
          changed: z.array(FlagKeySchema),
          ...seqMember,
        }),
      },
      errors: ['project_not_found', 'environment_not_found', 'confirmation_required', 'flag_archived'],
    },
    async ({ params, body: { changes, note }, text, actor, request }) => {
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
  );
}

function readOperations(text: string, keys: readonly string[]): readonly StateOperation[] {
  const entries = elementsOf(memberText(text, ['changes']) ?? '[]') ?? [];
  return keys.map((key, index) => {
    const state = memberText(entries[index] ?? '{}', ['state']) ?? 'null';
    return [key, state === 'null' ? null : readState(state, `changes[${index}].state`)];
  });
}
