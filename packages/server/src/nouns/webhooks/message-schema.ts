import type { ManagementApp } from '../../management/api/management-app.ts';
import { NameSchema, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';

const VersionSchema = z.unknown().optional().openapi({
  description: 'The record, such as a flag state; absent where it did not exist, and in large messages.',
});

const EventSchema = z.object({
  action: z.string().openapi({ example: 'flag.changed', description: 'As in the audit log.' }),
  environment: NameSchema.optional().openapi({ description: 'Absent for changes of the project itself.' }),
  target: z.string().openapi({ example: 'new-checkout', description: 'The flag key, id or name.' }),
  before: VersionSchema,
  after: VersionSchema,
  truncated: z
    .literal(true)
    .optional()
    .openapi({ description: '`before` and `after` were left out because the message is large.' }),
});

/** The body of a message about a change. */
export const ChangeMessageSchema = z
  .object({
    type: z.literal('change'),
    timestamp: TimeSchema.openapi({ description: 'When the change was committed.' }),
    data: z.object({
      seq: z.number().int().openapi({ description: 'The number of the change: grows with each message.' }),
      project: NameSchema,
      actor: z.string().openapi({ example: 'operator:ada@example.com' }),
      note: z.string().optional(),
      url: z.string().openapi({ description: 'The change in the dashboard.' }),
      events: z.array(EventSchema).openapi({ description: 'At most 100.' }),
      omitted: z.number().int().optional().openapi({ description: 'How many events were left out.' }),
    }),
  })
  .openapi('ChangeMessage');

/** The body of a message of a webhook of the installation. */
export const AuditMessageSchema = z
  .object({
    type: z.literal('audit'),
    timestamp: TimeSchema.openapi({ description: 'When the change was committed.' }),
    data: z.object({
      seq: z.number().int().openapi({ description: 'The number of the change: grows with each message.' }),
      actor: z.string(),
      ip: z.string().optional(),
      note: z.string().optional(),
      url: z.string().openapi({ description: 'The audit log in the dashboard.' }),
      events: z
        .array(EventSchema.extend({ id: z.string(), project: NameSchema.optional() }))
        .openapi({ description: 'At most 100; `GET /api/changes/{seq}` has all.' }),
      omitted: z.number().int().optional().openapi({ description: 'How many events were left out.' }),
    }),
  })
  .openapi('AuditMessage');

/** The body of a test message. */
export const PingMessageSchema = z
  .object({
    type: z.literal('ping'),
    timestamp: TimeSchema,
    data: z.object({
      project: NameSchema.optional().openapi({ description: 'Absent for a webhook of the installation.' }),
      webhook: NameSchema,
    }),
  })
  .openapi('PingMessage');

const headers = z.object({
  'webhook-id': z.string().openapi({ description: 'The same in every attempt to send this message.' }),
  'webhook-timestamp': z.string().openapi({ description: 'When it was sent, in seconds since 1970.' }),
  'webhook-signature': z.string().openapi({
    description: '`v1,` and the HMAC-SHA-256 in base64; during a rotation two of them, separated by a space.',
  }),
});

/** Describes the messages of webhooks with the format `json` in the OpenAPI document. */
export function describeMessages(app: ManagementApp): void {
  for (const [name, schema, summary] of [
    ['change', ChangeMessageSchema, 'A change of the project'],
    ['audit', AuditMessageSchema, 'A change anywhere in the installation, people and tokens included'],
    ['ping', PingMessageSchema, 'A test'],
  ] as const) {
    app.openAPIRegistry.registerWebhook({
      method: 'post',
      path: name,
      operationId: `receive${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      tags: ['Webhooks'],
      summary,
      description: 'Signed as Standard Webhooks describes. Sent by Halyard to the address of a webhook.',
      security: [],
      request: { headers, body: { required: true, content: { 'application/json': { schema } } } },
      responses: {
        '2XX': {
          description: 'The message was taken. Any other answer is a failure, and the message comes again.',
        },
        410: { description: 'Send no more: the webhook is disabled.' },
      },
    });
  }
}
