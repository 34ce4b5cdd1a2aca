import { defined, dueTime, ROLLOUT_PLAN } from '@halyard/protocol';
import { created, isoTime, isoTimeOr, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { FlagKeySchema, NameSchema, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { Written } from '../../management/write.ts';
import { isOpen, ROLLOUT_STATUSES, ranOf, stepsOf } from './rollout-plan.ts';
import {
  advancePlan,
  getPlan,
  listPlans,
  type NamedPlan,
  pausePlan,
  resumePlan,
  startPlan,
  stopPlan,
} from './rollouts.ts';

const tag = 'Rollout plans';
const path = '/api/projects/{project}/rollouts';

const ShareSchema = z.number().openapi({
  exclusiveMinimum: 0,
  maximum: 100,
  description: 'Above the step before it, at most three decimals; at 100 the flag is on for everyone.',
});

const StepSchema = z.strictObject({
  rolloutPct: ShareSchema,
  waitMinutes: z.number().optional().openapi({
    type: 'integer',
    minimum: ROLLOUT_PLAN.minWaitMinutes,
    maximum: ROLLOUT_PLAN.maxWaitMinutes,
    description: 'Minutes after the step before it, or after the start.',
  }),
  at: TimeSchema.optional().openapi({ description: 'A time instead of a wait.' }),
});

const DoneStepSchema = z.object({
  rolloutPct: z.number(),
  waitMinutes: z.number().int().optional(),
  at: TimeSchema.optional(),
  status: z.enum(['done', 'skipped', 'next', 'waiting']),
  ranAt: TimeSchema.optional(),
  expectedAt: TimeSchema.optional().openapi({
    description: 'When the step is due if nothing interrupts the plan; only while it runs.',
  }),
});

/** A rollout plan as the API returns it. */
export const RolloutPlanSchema = z
  .object({
    id: z.string(),
    flag: FlagKeySchema,
    environment: NameSchema.optional(),
    status: z.enum(ROLLOUT_STATUSES),
    reason: z.string().optional().openapi({ description: 'Why the plan was paused or stopped.' }),
    statusAt: TimeSchema,
    statusBy: z
      .string()
      .openapi({ description: 'The author of the status; `system` when the plan paused itself.' }),
    fromPct: z.number().openapi({ description: 'The percentage that the flag was on for at the start.' }),
    steps: z.array(DoneStepSchema),
    dueAt: TimeSchema.optional().openapi({
      description: 'When the next step runs; only while the plan runs.',
    }),
    note: z.string().optional(),
    createdBy: z.string(),
    createdAt: TimeSchema,
    runsAs: z.string().openapi({
      description:
        'The person or token whose permissions the steps need: who started or resumed the plan last.',
    }),
    seq: z
      .number()
      .int()
      .optional()
      .openapi({ description: 'In the answer of a write, the number of the change.' }),
  })
  .openapi('RolloutPlan');

const CHANGE_ERRORS = ['environment_not_found', 'flag_not_found', 'flag_archived'] as const;

/** Mounts the routes of rollout plans. */
export function mountRolloutPlans(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, tag);
  const answer = { description: 'The plan.', schema: RolloutPlanSchema };
  mount({
    method: 'get',
    path,
    id: 'listRolloutPlans',
    isHeavy: true,
    role: 'viewer',
    summary: 'List rollout plans: all open ones by due time, then the newest of the others',
    query: z.strictObject({
      flag: z.string().optional(),
      environment: NameSchema.optional(),
      status: z
        .enum([...ROLLOUT_STATUSES, 'open'])
        .optional()
        .openapi({
          description: '`open`: running or paused.',
        }),
    }),
    answer: { description: 'The plans.', schema: z.object({ rollouts: z.array(RolloutPlanSchema) }) },
    errors: ['environment_not_found'],
    handle: async ({ params: { project }, query: { flag, environment, status }, actor }) => {
      const query = { project, ...defined({ environment, flagKey: flag, status }) };
      const plans = await listPlans(context, actor, query);
      return ok({ rollouts: plans.map(planRecord) });
    },
  });

  mount({
    method: 'post',
    path,
    id: 'startRolloutPlan',
    needsApproval: true,
    role: 'editor',
    summary: 'Roll a flag out in steps: each raises its percentage, after a wait or at a time',
    body: {
      schema: z.strictObject({
        flag: FlagKeySchema,
        environment: NameSchema,
        steps: z
          .array(StepSchema)
          .openapi({ minItems: ROLLOUT_PLAN.minSteps, maxItems: ROLLOUT_PLAN.maxSteps }),
        note: z.string().optional().openapi({ description: 'The reason; kept with each change.' }),
        anyway: z.boolean().default(false).openapi({
          description: 'Also for a flag with a pending scheduled change there, which will pause the plan.',
        }),
      }),
    },
    answer: {
      status: 201,
      description: 'The plan; its first step has run if it has no wait.',
      schema: RolloutPlanSchema,
    },
    errors: ['already_exists', 'already_planned', ...CHANGE_ERRORS],
    handle: async ({ params: { project }, body: { flag, environment, steps, note, anyway }, actor }) => {
      const plan = {
        project,
        environment,
        flag,
        anyway,
        steps: steps.map(defined),
        ...defined({ note: note ?? actor.note }),
      };
      return created(planRecord(await startPlan(context, actor, plan)));
    },
  });

  mount({
    method: 'get',
    path: `${path}/{id}`,
    id: 'getRolloutPlan',
    role: 'viewer',
    summary: 'Read one rollout plan',
    answer,
    errors: ['not_found'],
    handle: async ({ params, actor }) => ok(planRecord(await getPlan(context, actor, params))),
  });

  const commands = [
    ['pause', 'Pause a rollout plan', pausePlan, []],
    ['resume', 'Resume a paused rollout plan; the whole wait begins again', resumePlan, CHANGE_ERRORS],
    ['advance', 'Run the next step of a rollout plan now', advancePlan, CHANGE_ERRORS],
    ['stop', 'Stop a rollout plan for good; the flag stays as it is', stopPlan, []],
  ] as const;
  for (const [verb, summary, run, errors] of commands) {
    mount({
      method: 'post',
      path: `${path}/{id}/${verb}`,
      id: `${verb}RolloutPlan`,
      role: 'editor',
      summary,
      answer,
      // What runs a step changes the flag; what ends a plan does not.
      ...(errors.length > 0 && { needsApproval: true }),
      errors: ['not_found', 'not_revertible', ...errors],
      handle: async ({ params, actor }) => ok(planRecord(await run(context, actor, params))),
    });
  }
}

/** A rollout plan as the API returns it. */
function planRecord(plan: Written<NamedPlan>) {
  return {
    id: plan.id,
    flag: plan.flagKey,
    environment: plan.environment,
    status: plan.status,
    reason: plan.reason,
    statusAt: isoTime(plan.statusAt),
    statusBy: plan.statusBy,
    fromPct: plan.fromPct,
    steps: stepRecords(plan),
    dueAt: isoTimeOr(plan.dueAt),
    note: plan.note,
    createdBy: plan.createdBy,
    createdAt: isoTime(plan.createdAt),
    runsAs: plan.runsAs,
    seq: plan.seq,
  };
}

/** The steps with their status; empty when the record is damaged. */
function stepRecords(plan: NamedPlan) {
  try {
    const ran = ranOf(plan);
    let expected = plan.dueAt;
    return stepsOf(plan).map((step, index) => {
      if (index < plan.nextStep) {
        const at = ran[index] ?? undefined;
        return { ...step, status: at === undefined ? 'skipped' : 'done', ranAt: isoTimeOr(at) };
      }
      if (!isOpen(plan)) return { ...step, status: 'skipped' };
      if (index > plan.nextStep && expected !== undefined) expected = dueTime(step, expected);
      return {
        ...step,
        status: index === plan.nextStep ? 'next' : 'waiting',
        expectedAt: isoTimeOr(expected),
      };
    });
  } catch {
    // A damaged plan pauses when its next step is due, and can be stopped.
    return [];
  }
}
