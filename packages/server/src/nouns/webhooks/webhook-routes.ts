import { defined, type ErrorCode } from '@halyard/protocol';
import { created, done, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { type Call, type Operation, tagged } from '../../management/api/operation.ts';
import { DoneSchema, NameSchema, seqMember } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import { listDeliveries, replayWebhook, testWebhook } from './deliveries.ts';
import { describeMessages } from './message-schema.ts';
import { KEPT_DELIVERIES } from './webhook.ts';
import type { WebhookPlace } from './webhook-place.ts';
import {
  changedMembers,
  deliveryRecord,
  SecretSchema,
  settingMembers,
  WebhookDeliverySchema,
  WebhookSchema,
  webhookRecord,
} from './webhook-schemas.ts';
import type { WebhookContext } from './webhook-sender.ts';
import {
  createWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  ROTATION_HOURS,
  rotateWebhook,
  skipWebhookChange,
  updateWebhook,
} from './webhooks.ts';

/** Where one webhook is, below the list. */
const ONE = '/{webhook}';

/** A body with the number of a change. */
function numberOf(where: string) {
  const description = `The number of the change, ${where}.`;
  return { schema: z.strictObject({ seq: z.number().int().min(0).openapi({ description }) }) };
}

/** An operation on webhooks, for administrators. `path` is what follows the list. */
interface WebhookOperation<Body>
  extends Pick<Operation<string, Body, undefined>, 'method' | 'path' | 'id' | 'summary' | 'body' | 'answer'> {
  readonly errors?: readonly ErrorCode[];
  readonly handle: (
    call: Omit<Call<string, Body, undefined>, 'params'> & { readonly params: WebhookPlace },
  ) => Promise<Response>;
}

/** Mounts an operation twice: for the webhooks of projects, and for those of the installation. */
function mountBoth<Body = undefined>(
  app: ManagementApp,
  { path, id, summary, errors = [], handle, ...operation }: WebhookOperation<Body>,
): void {
  const { mount } = tagged(app, 'Webhooks');
  const possible = path.startsWith(ONE) ? (['not_found', ...errors] as const) : errors;
  const same = {
    ...operation,
    role: 'admin',
    // `WebhookPlace`: the parameters of both paths. The list has no `webhook`, and does not ask for it.
    handle: (call: Call<string, Body, undefined>) => handle({ ...call, params: call.params as WebhookPlace }),
  } as const;

  mount({
    ...same,
    path: `/api/projects/{project}/webhooks${path}`,
    id,
    summary: `${summary} (project)`,
    errors: possible,
  });

  mount({
    ...same,
    path: `/api/webhooks${path}`,
    id: id.replace('Webhook', 'InstallationWebhook'),
    summary: `${summary} (installation)`,
    // It has no environments.
    errors: possible.filter((code) => code !== 'environment_not_found'),
    scope: 'server',
  });
}

/** Mounts the routes of webhooks. */
export function mountWebhooks(app: ManagementApp, context: WebhookContext): void {
  describeMessages(app);
  mountBoth(app, {
    method: 'get',
    path: '',
    id: 'listWebhooks',
    summary: 'List webhooks',
    answer: {
      description: 'The webhooks by name, at most 20, never their secrets.',
      schema: z.object({ webhooks: z.array(WebhookSchema) }),
    },
    handle: async ({ params, actor }) =>
      ok({ webhooks: (await listWebhooks(context, actor, params)).map(webhookRecord) }),
  });

  mountBoth(app, {
    method: 'post',
    path: '',
    id: 'createWebhook',
    errors: ['environment_not_found', 'already_exists'],
    summary: 'Create a webhook; its secret is shown only once',
    body: {
      schema: z.strictObject({
        name: NameSchema,
        ...changedMembers,
        url: settingMembers.url,
      }),
    },
    answer: { status: 201, description: 'The webhook with its secret.', schema: SecretSchema },
    handle: async ({ params, body, actor }) => {
      const { name, url, format = 'json', environments = [], events = [] } = body;
      const input = { ...defined({ project: params.project }), name, url, format, environments, events };
      const made = await createWebhook(context, actor, input);
      return created({ ...webhookRecord(made), secret: made.secret });
    },
  });

  mountBoth(app, {
    method: 'get',
    path: ONE,
    id: 'getWebhook',
    summary: 'Read one webhook',
    answer: { description: 'The webhook, never its secret.', schema: WebhookSchema },
    handle: async ({ params, actor }) => ok(webhookRecord(await getWebhook(context, actor, params))),
  });

  mountBoth(app, {
    method: 'patch',
    path: ONE,
    id: 'updateWebhook',
    errors: ['environment_not_found'],
    summary: 'Change, pause or resume a webhook',
    body: {
      schema: z.strictObject({
        ...changedMembers,
        status: z
          .enum(['active', 'paused'])
          .optional()
          .openapi({ description: '`active` resumes it, also after it was disabled.' }),
        skipPending: z
          .boolean()
          .optional()
          .openapi({ description: 'Skip the changes that have not been sent.' }),
      }),
    },
    answer: { description: 'The webhook.', schema: WebhookSchema.extend(seqMember) },
    handle: async ({ params, body, actor }) =>
      ok(webhookRecord(await updateWebhook(context, actor, { ...params, ...defined(body) }))),
  });

  mountBoth(app, {
    method: 'post',
    path: `${ONE}/rotate`,
    id: 'rotateWebhook',
    summary: 'Replace the signing secret; the new one is shown only once',
    body: {
      schema: z.strictObject({
        overlapHours: z
          .number()
          .min(0)
          .max(ROTATION_HOURS.most)
          .optional()
          .openapi({
            description: `How long messages are signed with the old secret too; default ${ROTATION_HOURS.default}.`,
          }),
      }),
    },
    answer: { description: 'The webhook with its new secret.', schema: SecretSchema },
    handle: async ({ params, body, actor }) => {
      const { overlapHours = ROTATION_HOURS.default } = body;
      const webhook = await rotateWebhook(context, actor, { ...params, overlapHours });
      return ok({ ...webhookRecord(webhook), secret: webhook.secret });
    },
  });

  mountBoth(app, {
    method: 'post',
    path: `${ONE}/test`,
    id: 'testWebhook',
    errors: ['rate_limited'],
    summary: 'Send a test message and wait for the answer',
    answer: { description: 'What the receiver answered.', schema: WebhookDeliverySchema },
    handle: async ({ params, actor, keepOpen }) => {
      keepOpen();
      return ok(deliveryRecord(await testWebhook(context, actor, params)));
    },
  });

  mountBoth(app, {
    method: 'post',
    path: `${ONE}/replay`,
    id: 'replayWebhook',
    errors: ['rate_limited'],
    summary: 'Send the message of one change again and wait for the answer',
    body: numberOf('as in a delivery'),
    answer: { description: 'What the receiver answered.', schema: WebhookDeliverySchema },
    handle: async ({ params, body, actor, keepOpen }) => {
      keepOpen();
      return ok(deliveryRecord(await replayWebhook(context, actor, { ...params, seq: body.seq })));
    },
  });

  mountBoth(app, {
    method: 'post',
    path: `${ONE}/skip`,
    id: 'skipWebhookChange',
    summary: 'Skip the change that a webhook delivers next',
    body: numberOf('as in `lastFailure`'),
    answer: {
      description: 'The webhook, which tries the next change at once unless it is paused or disabled.',
      schema: WebhookSchema.extend(seqMember),
    },
    handle: async ({ params, body, actor }) =>
      ok(webhookRecord(await skipWebhookChange(context, actor, { ...params, seq: body.seq }))),
  });

  mountBoth(app, {
    method: 'get',
    path: `${ONE}/deliveries`,
    id: 'listWebhookDeliveries',
    summary: 'List the last attempts of a webhook, the newest first',
    answer: {
      description: `The last ${KEPT_DELIVERIES} attempts.`,
      schema: z.object({ deliveries: z.array(WebhookDeliverySchema) }),
    },
    handle: async ({ params, actor }) =>
      ok({ deliveries: (await listDeliveries(context, actor, params)).map(deliveryRecord) }),
  });

  mountBoth(app, {
    method: 'delete',
    path: ONE,
    id: 'deleteWebhook',
    summary: 'Delete a webhook; what it has not sent is never sent',
    answer: { description: 'The webhook is deleted.', schema: DoneSchema },
    handle: async ({ params, actor }) => done(await deleteWebhook(context, actor, params)),
  });
}
