import { defined, memberText } from '@halyard/protocol';
import { RawJson } from '../../domain/raw-json.ts';
import { created, isoTime, isoTimeOr, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import {
  FlagKeySchema,
  FlagStateSchema,
  NameSchema,
  StatePatchSchema,
  TimeSchema,
} from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import type { Written } from '../../management/write.ts';
import { SCHEDULE_STATUSES } from './schedule.ts';
import { cancelSchedule, createSchedule, listSchedules, type NamedSchedule } from './schedules.ts';
import { MAX_SCHEDULED, readSteps } from './steps.ts';

const path = '/api/projects/{project}/schedules';

/** Largest body of a schedule, in bytes. */
const MAX_BYTES = 32 * 1024 * 1024;

const StepsSchema = z
  .array(
    z.union([
      z.strictObject({ key: FlagKeySchema, state: z.union([FlagStateSchema, z.null()]) }),
      z.strictObject({ key: FlagKeySchema, patch: StatePatchSchema }),
    ]),
  )
  .openapi({
    maxItems: MAX_SCHEDULED,
    description: 'For each flag its whole state, `null` to remove it, or a patch of its state at that time.',
  });

/** A schedule as the API returns it. */
export const ScheduleSchema = z
  .object({
    id: z.string(),
    environment: NameSchema.optional(),
    dueAt: TimeSchema,
    changes: StepsSchema,
    note: z.string().optional(),
    createdBy: z.string(),
    createdAt: TimeSchema,
    status: z.enum(SCHEDULE_STATUSES),
    settledAt: TimeSchema.optional(),
    seq: z.number().int().optional().openapi({
      description:
        'In a list, the change that the schedule made; in the answer of a write, the write itself.',
    }),
    error: z.string().optional().openapi({ description: 'Why the schedule failed.' }),
  })
  .openapi('Schedule');

/** Mounts the routes of schedules. */
export function mountSchedules(app: ManagementApp, context: ManagementContext): void {
  const { mount } = tagged(app, 'Schedules');
  mount({
    method: 'get',
    path,
    id: 'listSchedules',
    isHeavy: true,
    role: 'viewer',
    summary: 'List schedules: all pending ones by due time, then the newest of the others',
    query: z.strictObject({
      environment: NameSchema.optional(),
      status: z.enum(SCHEDULE_STATUSES).optional(),
    }),
    answer: { description: 'The schedules.', schema: z.object({ schedules: z.array(ScheduleSchema) }) },
    errors: ['environment_not_found'],
    handle: async ({ params: { project }, query: { environment, status }, actor }) => {
      const schedules = await listSchedules(context, actor, { project, ...defined({ environment, status }) });
      return ok({ schedules: schedules.map(scheduleRecord) });
    },
  });

  mount({
    method: 'post',
    path,
    id: 'createSchedule',
    needsApproval: true,
    role: 'editor',
    summary: 'Schedule a change: one revision and one frame when it is due',
    body: {
      maxBytes: MAX_BYTES,
      schema: z.strictObject({
        environment: NameSchema,
        dueAt: TimeSchema,
        changes: StepsSchema.openapi({ minItems: 1 }),
        note: z.string().optional().openapi({ description: 'The reason; kept with the change.' }),
        anyway: z.boolean().default(false).openapi({
          description: 'Also for a flag with an open rollout plan there, which the change will pause.',
        }),
      }),
    },
    answer: { status: 201, description: 'The schedule.', schema: ScheduleSchema },
    errors: ['environment_not_found', 'flag_not_found', 'flag_archived', 'already_planned'],
    handle: async ({ params: { project }, body: { environment, dueAt, note, anyway }, text, actor }) => {
      const steps = readSteps(memberText(text, ['changes']) ?? '[]');
      const schedule = await createSchedule(context, actor, {
        project,
        environment,
        steps,
        dueAt: Date.parse(dueAt),
        anyway,
        ...defined({ note: note ?? actor.note }),
      });
      return created(scheduleRecord(schedule));
    },
  });

  mount({
    method: 'delete',
    path: `${path}/{id}`,
    id: 'cancelSchedule',
    role: 'editor',
    summary: 'Cancel a pending schedule',
    answer: { description: 'The schedule.', schema: ScheduleSchema },
    errors: ['not_found', 'not_revertible'],
    handle: async ({ params, actor }) => ok(scheduleRecord(await cancelSchedule(context, actor, params))),
  });
}

/** The steps as they were sent; empty when the record is damaged. */
function stepsOf(changes: string): RawJson | readonly [] {
  try {
    JSON.parse(changes);
    return new RawJson(changes);
  } catch {
    // A damaged schedule fails when it is due, and can be canceled until then.
    return [];
  }
}

/** A schedule as the API returns it. */
function scheduleRecord(schedule: Written<NamedSchedule>) {
  const { id, environment, dueAt, changes, note, createdBy, createdAt, status, settledAt } = schedule;
  return {
    id,
    environment,
    dueAt: isoTime(dueAt),
    changes: stepsOf(changes),
    note,
    createdBy,
    createdAt: isoTime(createdAt),
    status,
    settledAt: isoTimeOr(settledAt),
    seq: schedule.seq,
    error: schedule.outcome,
  };
}
