import { WEBHOOK_EVENTS } from '@halyard/protocol';
import type { ChangedPlace } from '../../domain/audit.ts';
import { isoTime, isoTimeOr } from '../../management/api/answers.ts';
import { ChangedSchema, NameSchema, seqMember, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { Written } from '../../management/write.ts';
import {
  COUNTED_ENTRIES,
  COUNTED_HOURS,
  shownUrl,
  WEBHOOK_FORMATS,
  WEBHOOK_STATUSES,
  type WebhookDelivery,
  type WebhookHealth,
} from './webhook.ts';

const urlDescription = {
  example: 'https://hooks.example.com/halyard',
  description:
    'Where messages are sent, by https. Answers show `…` instead of its query, and for `slack` of its path.',
} as const;

/** What people choose about a webhook. */
export const settingMembers = {
  url: z.string().openapi({ ...urlDescription, format: 'uri' }),
  format: z.enum(WEBHOOK_FORMATS).openapi({
    description:
      '`json`: everything. `slack`: one text, as Slack, Mattermost, Google Chat and compatible receivers take it.',
  }),
  environments: z
    .array(NameSchema)
    .openapi({ description: 'Only changes of these environments, and of the project itself. Empty: all.' }),
  events: z
    .array(z.enum(WEBHOOK_EVENTS))
    .openapi({ description: 'Only changes of these kinds. Empty: all.' }),
} as const;

/** The same, in a change. */
export const changedMembers = z.object(settingMembers).partial().shape;

/** What is known of an attempt that was answered, or failed. */
const answerMembers = {
  status: z.number().int().optional().openapi({ description: 'The HTTP status of the answer.' }),
  error: z.string().optional().openapi({ description: 'Why it failed.' }),
} as const;

/** A webhook, never its secret. */
export const WebhookSchema = z
  .object({
    name: NameSchema,
    ...settingMembers,
    url: z.string().openapi(urlDescription),
    status: z.enum(WEBHOOK_STATUSES).openapi({
      description:
        '`paused` by a person; `disabled` by the server after five days of failures, or the answer 410.',
    }),
    reason: z.string().optional().openapi({ description: 'Why it is disabled.' }),
    deliveredSeq: z.number().int().openapi({
      description: 'Every change up to this number has been delivered, skipped or given up.',
    }),
    pendingSince: TimeSchema.optional().openapi({
      description: 'When the oldest change was made that has not been sent; absent when all have been.',
    }),
    pendingCount: z
      .number()
      .int()
      .openapi({
        description: `How many changes have not been sent, counted over the next ${COUNTED_ENTRIES} entries of the audit log.`,
      }),
    pendingMore: z
      .literal(true)
      .optional()
      .openapi({ description: 'There may be more: the audit log has more entries than were counted.' }),
    givenUp: z.number().int().openapi({ description: 'Changes given up after a day of retries.' }),
    failures: z.number().int().openapi({ description: 'Attempts that failed since the last success.' }),
    failingSince: TimeSchema.optional().openapi({
      description: 'Since when attempts fail; later by the time in which no node ran.',
    }),
    nextAttemptAt: TimeSchema.optional(),
    lastFailure: z
      .object({
        seq: z.number().int().optional().openapi({ description: 'The change, which is tried again.' }),
        at: TimeSchema,
        ...answerMembers,
        changed: ChangedSchema.optional(),
        answer: z.string().optional().openapi({ description: 'The beginning of the answer.' }),
      })
      .optional()
      .openapi({ description: 'The last attempt, if it failed.' }),
    hours: z
      .array(
        z.object({
          at: TimeSchema.openapi({ description: 'The beginning of the hour.' }),
          delivered: z.number().int(),
          failed: z.number().int(),
        }),
      )
      .openapi({
        description: `Attempts by hour, of the last ${COUNTED_HOURS} hours; an hour without any is absent.`,
      }),
    previousSecretUntil: TimeSchema.optional().openapi({
      description: 'Until then, messages are signed with the previous secret too.',
    }),
    createdAt: TimeSchema,
  })
  .openapi('Webhook');

/** A webhook with its new secret. */
export const SecretSchema = WebhookSchema.extend({
  secret: z
    .string()
    .openapi({ description: 'The signing secret, shown only this once.', example: 'whsec_…' }),
  ...seqMember,
}).openapi('WebhookWithSecret');

/** One attempt to send a message. */
export const WebhookDeliverySchema = z
  .object({
    number: z.number().int(),
    seq: z.number().int().optional().openapi({ description: 'The change; absent for a test.' }),
    messageId: z.string().openapi({ description: 'The header `webhook-id`: the same in every attempt.' }),
    trigger: z.enum(['change', 'replay', 'test']),
    outcome: z.enum(['delivered', 'failed', 'given-up']),
    at: TimeSchema,
    durationMs: z.number().int(),
    ...answerMembers,
    changed: ChangedSchema.optional(),
    answer: z.string().optional().openapi({ description: 'The first kilobyte of the answer.' }),
  })
  .openapi('WebhookDelivery');

/** The answer for a webhook. */
export function webhookRecord(webhook: Written<WebhookHealth>) {
  const { name, format, environments, events, status, reason, cursor, givenUp, failures, seq } = webhook;
  return {
    name,
    url: shownUrl(webhook),
    format,
    environments: [...environments],
    events: [...events],
    status,
    reason,
    deliveredSeq: cursor,
    pendingCount: webhook.pendingCount,
    pendingMore: webhook.pendingMore,
    givenUp,
    failures,
    lastFailure: webhook.lastFailure && { ...webhook.lastFailure, at: isoTime(webhook.lastFailure.at) },
    hours: webhook.hours.map(({ at, delivered, failed }) => ({ at: isoTime(at), delivered, failed })),
    pendingSince: isoTimeOr(webhook.pendingSince),
    failingSince: isoTimeOr(webhook.failingSince),
    nextAttemptAt: isoTimeOr(webhook.nextAttemptAt),
    previousSecretUntil: isoTimeOr(webhook.previousSecretUntil),
    createdAt: isoTime(webhook.createdAt),
    seq,
  };
}

/** The answer for an attempt, with what its change was about if that is known. */
export function deliveryRecord(delivery: WebhookDelivery & { readonly changed?: readonly ChangedPlace[] }) {
  return { ...delivery, at: isoTime(delivery.at) };
}
