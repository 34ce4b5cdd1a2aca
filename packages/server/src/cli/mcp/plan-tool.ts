import { z } from 'zod';
import { apiPath } from '../api-client.ts';
import { type Decided, patchOptions, stateAsRead } from './change-tool.ts';
import { environmentOf, proposedAnswer, sendChange, shellWord, wayOf } from './guard.ts';
import { environment, expectedRevision, key, noteOf, patch, project, reason, time } from './inputs.ts';
import { Refusal } from './session.ts';
import { type Patch, readFlag } from './states.ts';
import { type McpTool, type ToolCall, writeTool } from './tool.ts';

const step = z.strictObject({
  rolloutPct: z.number().gt(0).max(100),
  waitMinutes: z.int().optional().describe('After the step before; a first step without it runs at once'),
  at: time.optional(),
});

/** Plans changes of one flag that run by themselves: in steps, or one at a time of the day. */
export const planTool: McpTool = writeTool({
  name: 'halyard_plan_rollout',
  description:
    'Let the server change one flag later: "steps" raise its share of users one after another, or "at" with "patch" makes one change at that time.',
  right: 'editor',
  isDestructive: true,
  input: z.strictObject({
    project,
    environment,
    key,
    steps: z.array(step).max(20).optional(),
    at: time.optional(),
    patch: patch.optional(),
    expectedRevision,
    reason,
  }),
  run: async (input, call) => {
    const { session } = call;
    const place = await environmentOf(session, input.project, input.environment);
    stateAsRead(await readFlag(session, input.project, input.key), input);

    const planned = plannedOf(input, call);
    const change = { way: wayOf(session, [place]), ...planned };
    const sent = await sendChange(session, change);
    return 'proposal' in sent ? proposedAnswer(sent.proposal, {}) : { planned: sent.answer };
  },
});

interface Plan extends Decided {
  readonly steps?: readonly z.infer<typeof step>[] | undefined;
  readonly at?: string | undefined;
  readonly patch?: Patch | undefined;
  readonly reason: string;
}

/** The request of a plan, and the same as a command line. */
function plannedOf({ project, environment, key, steps, at, patch, reason }: Plan, call: ToolCall) {
  const note = noteOf(reason, call);
  const place = `--project ${project} --env ${environment}`;

  if (steps !== undefined && at === undefined && patch === undefined) {
    const plan = steps.flatMap(({ rolloutPct, waitMinutes, at: due }) => [
      ...(waitMinutes === undefined ? [] : [`${waitMinutes}m`]),
      ...(due === undefined ? [] : [due]),
      `${rolloutPct}`,
    ]);
    return {
      request: {
        method: 'POST',
        path: apiPath`/projects/${project}/rollouts`,
        body: { flag: key, environment, steps },
        note,
      },
      commandLine: `halyard rollout start ${key} ${place} --plan ${shellWord(plan.join(', '))} --note ${shellWord(reason)}`,
    } as const;
  }

  if (steps === undefined && at !== undefined && patch !== undefined) {
    const options = patchOptions(patch).join(' ');
    return {
      request: {
        method: 'POST',
        path: apiPath`/projects/${project}/schedules`,
        body: { environment, dueAt: at, changes: [{ key, patch }] },
        note,
      },
      commandLine: `halyard schedule create ${key} ${place} --at ${shellWord(at)} ${options} --note ${shellWord(reason)}`,
    } as const;
  }
  throw new Refusal('invalid_argument', 'Give either "steps", or "at" with "patch".');
}
