import { isoTime, isoTimeOr, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { FlagKeySchema, LabelSchema, NameSchema, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import { TokenRecordSchema, tokenRecord } from '../access-tokens/access-token-schemas.ts';
import { type Holdings, readHoldings } from './holdings.ts';
import { sessionEnd } from './operator.ts';
import type { PeopleContext } from './people.ts';
import { EmailSchema, OperatorRecordSchema, operatorRecord } from './people-schemas.ts';

const place = { id: z.string(), project: NameSchema } as const;
const note = z.string().optional();

/** What a person has, and what becomes of it when they are removed. */
export const HoldingsSchema = z
  .object({
    operator: OperatorRecordSchema,
    ends: z
      .object({
        sessions: z.array(z.object({ startedAt: TimeSchema, lastUsedAt: TimeSchema, expiresAt: TimeSchema })),
        tokens: z.array(TokenRecordSchema),
        links: z.array(
          z.object({
            id: z.string(),
            kind: z.enum(['invite', 'reset']),
            email: EmailSchema.optional(),
            expiresAt: TimeSchema,
          }),
        ),
        schedules: z.array(z.object({ ...place, environment: NameSchema, dueAt: TimeSchema, note })),
        plans: z.array(
          z.object({
            ...place,
            environment: NameSchema,
            flag: FlagKeySchema,
            status: z.enum(['running', 'paused']),
          }),
        ),
        proposals: z.array(z.object({ ...place, createdAt: TimeSchema, note })),
      })
      .openapi({
        description:
          'What ends with the removal. A running plan is paused, and another person can resume it.',
      }),
    stays: z
      .object({
        tokens: z.array(TokenRecordSchema),
        keys: z.array(z.object({ ...place, name: LabelSchema, lastFour: z.string() })),
        flags: z.array(z.object({ project: NameSchema, key: FlagKeySchema })),
      })
      .openapi({
        description:
          'What the person created, as far as the audit log reaches back, and the flags that name them as the owner: up to 500 keys and flags.',
      }),
  })
  .openapi('Holdings');

/** Mounts the route that lists what a person has. */
export function mountHoldings(app: ManagementApp, context: PeopleContext): void {
  const { mount } = tagged(app, 'Operators');
  mount({
    method: 'get',
    path: '/api/operators/{id}/holdings',
    id: 'getHoldings',
    errors: ['not_found'],
    role: 'admin',
    scope: 'server',
    summary: 'What a person has: what ends when they are removed, and what stays',
    answer: { description: 'What the person has.', schema: HoldingsSchema },
    handle: async ({ params, actor }) => ok(holdingsRecord(await readHoldings(context, actor, params.id))),
  });
}

/** What a person has, as the API returns it. */
function holdingsRecord({ operator, lifetime, ends, stays, names }: Holdings) {
  const nameOf = (id: string) => names.get(id) ?? '';

  return {
    operator: operatorRecord(operator),
    ends: {
      sessions: ends.sessions.map((session) => ({
        startedAt: isoTime(session.createdAt),
        lastUsedAt: isoTime(session.lastUsedAt),
        expiresAt: isoTime(sessionEnd(session, lifetime)),
      })),
      tokens: ends.tokens.map(tokenRecord),
      links: ends.links.map(({ id, kind, email, expiresAt }) => ({
        id,
        kind,
        email,
        expiresAt: isoTime(expiresAt),
      })),
      schedules: ends.schedules.map((schedule) => ({
        id: schedule.id,
        project: nameOf(schedule.projectId),
        environment: nameOf(schedule.environmentId),
        dueAt: isoTimeOr(schedule.dueAt),
        note: schedule.note,
      })),
      plans: ends.plans.map((plan) => ({
        id: plan.id,
        project: nameOf(plan.projectId),
        environment: nameOf(plan.environmentId),
        flag: plan.flagKey,
        status: plan.status,
      })),
      proposals: ends.proposals.map((proposal) => ({
        id: proposal.id,
        project: nameOf(proposal.projectId),
        createdAt: isoTime(proposal.createdAt),
        note: proposal.note,
      })),
    },
    stays: {
      tokens: stays.tokens.map(tokenRecord),
      keys: stays.keys.map(({ id, project, name, lastFour }) => ({ id, project, name, lastFour })),
      flags: stays.flags.map(({ project, key }) => ({ project, key })),
    },
  };
}
