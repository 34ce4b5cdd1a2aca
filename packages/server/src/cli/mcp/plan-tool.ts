import { z } from 'zod';
import { apiPath } from '../api-client.ts';
import { patchOptions, stateAsRead } from './change-tool.ts';
import { environmentOf, proposedAnswer, sendChange, shellWord, wayOf } from './guard.ts';
import { environment, expectedRevision, key, noteOf, patch, project, reason, time } from './inputs.ts';
import { Refusal } from './session.ts';
import { readFlag } from './states.ts';
import { type McpTool, type ToolCall, writeTool } from './tool.ts';

const step = z.strictObject({
  rolloutPct: z.number().gt(0).max(100),
  waitMinutes: z.int().optional().describe('After the step before; a first step without it runs at once'),
  at: time.optional(),
});

const plan = z.strictObject({
  project,
  environment,
  key,
  steps: z.array(step).max(20).optional(),
  at: time.optional(),
  patch: patch.optional(),
  expectedRevision,
  reason,
});

/** Plans changes of one flag that run by themselves: in steps, or one at a time of the day. */
export const planTool: McpTool = writeTool({
  name: 'halyard_plan_rollout',
  description:
    'Let the server change one flag later: "steps" raise its share of users one after another, or "at" with "patch" makes one change at that time.',
  right: 'editor',
  isDestructive: true,
  input: plan,
  run: async (input, call) => {
    const { session } = call;
    const place = await environmentOf(session, input.project, input.environment);
    stateAsRead(await readFlag(session, input.project, input.key), input);

    const sent = await sendChange(session, { way: wayOf(session, [place]), ...plannedOf(input, call) });
    return 'proposal' in sent ? proposedAnswer(sent.proposal, {}) : { planned: sent.answer };
  },
});

/** The request of a plan, and the same as a command line. */
function plannedOf(
  { project, environment, key, steps, at, patch, reason }: z.infer<typeof plan>,
  call: ToolCall,
) {
  const place = `--project ${project} --env ${environment}`;
  const planned = (path: string, body: object, command: string) => ({
    request: { method: 'POST', path, body, note: noteOf(reason, call) } as const,
    commandLine: `halyard ${command} --note ${shellWord(reason)}`,
  });

  if (steps !== undefined && at === undefined && patch === undefined) {
    const parts = steps.flatMap(({ rolloutPct, waitMinutes, at: due }) => [
      ...(waitMinutes === undefined ? [] : [`${waitMinutes}m`]),
      ...(due === undefined ? [] : [due]),
      `${rolloutPct}`,
    ]);
    return planned(
      apiPath`/projects/${project}/rollouts`,
      { flag: key, environment, steps },
      `rollout start ${key} ${place} --plan ${shellWord(parts.join(', '))}`,
    );
  }

  if (steps === undefined && at !== undefined && patch !== undefined) {
    return planned(
      apiPath`/projects/${project}/schedules`,
      { environment, dueAt: at, changes: [{ key, patch }] },
      `schedule create ${key} ${place} --at ${shellWord(at)} ${patchOptions(patch).join(' ')}`,
    );
  }
  throw new Refusal('invalid_argument', 'Give either "steps", or "at" with "patch".');
}
