import { z } from '@hono/zod-openapi';
import type { Logger } from 'pino';
import { logFailure } from '../../http/errors.ts';
import { ok } from '../api/answers.ts';
import type { ManagementApp } from '../api/environment.ts';
import { mount } from '../api/operation.ts';
import { FlagKeySchema, FlagRecordSchema, seqMember } from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';
import { type ArchiveOutcome, archiveFlag, archiveFlags, MAX_BULK, restoreFlag } from './flag-archive.ts';
import { flagRecord } from './flag-routes.ts';

const tag = 'Flags';
const path = '/api/projects/{project}/flags';
const errors = ['project_not_found', 'flag_not_found', 'confirmation_required'] as const;

const OutcomesSchema = z.object({
  results: z.array(
    z.union([
      z.object({ key: FlagKeySchema, archived: z.literal(true), ...seqMember }),
      z.object({ key: FlagKeySchema, error: z.string(), message: z.string() }),
    ]),
  ),
});

/** Mounts the routes that take flags out of use and back into it. */
export function mountFlagArchive(app: ManagementApp, context: ManagementContext, log: Logger): void {
  const answer = {
    status: 200,
    description: 'The flag.',
    schema: FlagRecordSchema.extend(seqMember),
  } as const;
  mount(
    app,
    {
      ...{ method: 'post', path: `${path}/{key}/archive`, id: 'archiveFlag', tag, role: 'editor' },
      summary: 'Take a flag out of use: its states are kept aside, and nobody is served it',
      ...{ answer, errors },
    },
    async ({ params, actor }) => ok(flagRecord(await archiveFlag(context, actor, params))),
  );
  mount(
    app,
    {
      ...{ method: 'post', path: `${path}/{key}/restore`, id: 'restoreFlag', tag, role: 'editor' },
      summary: 'Take an archived flag into use again, with the states it had',
      ...{ answer, errors },
    },
    async ({ params, actor }) => ok(flagRecord(await restoreFlag(context, actor, params))),
  );
  mount(
    app,
    {
      ...{ method: 'post', path: `${path}/archive`, id: 'archiveFlags', tag, role: 'editor' },
      summary: 'Archive several flags, each on its own',
      body: {
        schema: z.strictObject({ keys: z.array(FlagKeySchema).openapi({ minItems: 1, maxItems: MAX_BULK }) }),
      },
      confirms: true,
      answer: { status: 200, description: 'What became of each.', schema: OutcomesSchema },
      errors: ['project_not_found'],
    },
    async ({ params: { project }, body: { keys }, actor, requestId }) => {
      const outcomes = await archiveFlags(context, actor, { project, keys });
      const cause = outcomes.map(failureOf).find((failure) => failure !== undefined);
      if (cause !== undefined) logFailure(cause, { log, requestId });
      return ok({ results: outcomes.map(outcomeRecord) });
    },
  );
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
