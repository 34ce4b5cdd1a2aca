import { defined } from '@halyard/protocol';
import { type Delivery, type DeliveryReader, totalOf } from '../../domain/delivery.ts';
import { STREAM_FIELDS } from '../../http/event-stream.ts';
import { isoTime, isoTimeOr, ok } from '../../management/api/answers.ts';
import type { ManagementApp } from '../../management/api/management-app.ts';
import { tagged } from '../../management/api/operation.ts';
import { ChangedSchema, NameSchema, TimeSchema } from '../../management/api/schemas.ts';
import { z } from '../../management/api/zod.ts';
import type { ManagementContext } from '../../management/context.ts';
import { visibleProjects } from '../../management/rights.ts';
import { readSeq } from '../../management/rules.ts';
import type { Activity } from './activity.ts';
import { type KeyClients, listClients } from './presence.ts';
import { getDelivery, listDeliveries } from './receipts.ts';

const tag = 'Activity';

const countMembers = {
  streams: z.number().int().openapi({ description: 'Streams that were open when the frame was sent.' }),
  seen: z.number().int().openapi({ description: 'Streams whose connection took the frame.' }),
  slowestMs: z
    .number()
    .int()
    .openapi({ description: 'Milliseconds from the commit to the slowest seen stream; 0 without one.' }),
} as const;

/** A change as it was sent to streams, with their counts. */
export const DeliverySchema = z
  .object({
    seq: z.number().int(),
    project: NameSchema,
    environment: NameSchema,
    revision: z.number().int(),
    committedAt: TimeSchema,
    ...countMembers,
  })
  .openapi('Delivery');

/** A delivery in a list, with what its change was about. */
export const NamedDeliverySchema = DeliverySchema.extend({ changed: ChangedSchema.optional() }).openapi(
  'NamedDelivery',
);

const DeliveryByNodeSchema = DeliverySchema.extend({
  nodes: z.array(z.object({ node: z.string(), ...countMembers, at: TimeSchema })),
}).openapi('DeliveryByNode');

/** An empty text would count as 0. */
const ChangeNumber = z.coerce.number().int().min(1).optional();

const totals = {
  streams: z.number().int().openapi({ description: 'Open streams on all nodes.' }),
  nodes: z.number().int().openapi({ description: 'Nodes that have such streams.' }),
} as const;

/** The open streams of an environment, by key. */
export const ClientsSchema = z
  .object({
    environment: NameSchema,
    ...totals,
    keys: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        lastFour: z.string(),
        ...totals,
        lastSeenAt: TimeSchema.optional().openapi({
          description: 'When its streams were last reported; without streams, when the key was last used.',
        }),
      }),
    ),
  })
  .openapi('Clients');

/** Mounts the routes that show how far changes were delivered, and to which clients. */
export function mountDeliveries(
  app: ManagementApp,
  context: ManagementContext,
  deliveries: DeliveryReader,
): void {
  const { mount } = tagged(app, tag);
  mount({
    method: 'get',
    path: '/api/changes/{seq}/delivery',
    id: 'getDelivery',
    role: 'viewer',
    scope: 'visible',
    summary: 'Get the delivery of one change, by node',
    answer: { description: 'The receipts.', schema: DeliveryByNodeSchema },
    errors: ['invalid_argument', 'not_found'],
    handle: async ({ params, actor }) => {
      const delivery = await getDelivery(context, deliveries, { actor, seq: readSeq(params.seq) });
      const nodes = delivery.receipts.map(({ node, streams, seen, slowestMs, at }) => ({
        node,
        streams,
        seen,
        slowestMs,
        at: isoTime(at),
      }));
      return ok({ ...record(delivery), nodes });
    },
  });

  mount({
    method: 'get',
    path: '/api/projects/{project}/deliveries',
    id: 'listDeliveries',
    role: 'viewer',
    summary: 'List the deliveries of the newest changes of a project, newest first',
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(500).default(50),
      from: ChangeNumber.openapi({ description: 'Only changes of this number or a greater one.' }),
      to: ChangeNumber.openapi({ description: 'Only changes of this number or a smaller one.' }),
    }),
    answer: {
      description: 'The recent changes that were sent to streams.',
      schema: z.object({ deliveries: z.array(NamedDeliverySchema) }),
    },
    handle: async ({ params: { project }, query: { limit, from, to }, actor }) => {
      const which = { limit, ...defined({ from, to }) };
      const list = await listDeliveries(context, deliveries, { actor, project, ...which });
      return ok({ deliveries: list.map(({ changed, ...delivery }) => ({ ...record(delivery), changed })) });
    },
  });

  mount({
    method: 'get',
    path: '/api/projects/{project}/clients',
    id: 'listClients',
    role: 'viewer',
    summary: 'List the clients of a project: open streams on all nodes, by environment and key',
    answer: {
      description: 'The environments; each node updates its numbers within two seconds of a change.',
      schema: z.object({ environments: z.array(ClientsSchema) }),
    },
    handle: async ({ params: { project }, actor }) => {
      const list = await listClients(context, deliveries, { actor, project });
      const environments = list.map(({ keys, ...environment }) => ({
        ...environment,
        keys: keys.map(keyRecord),
      }));
      return ok({ environments });
    },
  });
}

function record({ committedAt, receipts, ...delivery }: Delivery) {
  const { nodes: _, ...counts } = totalOf(receipts);
  return { ...delivery, committedAt: isoTime(committedAt), ...counts };
}

function keyRecord({ lastSeenAt, ...key }: KeyClients) {
  return { ...key, lastSeenAt: isoTimeOr(lastSeenAt) };
}

/** The source of dashboard events. */
export type DashboardEvents = Pick<Activity, 'open'>;

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  ...STREAM_FIELDS,
} as const;

/** Mounts the route of dashboard events. */
export function mountEvents(app: ManagementApp, events: DashboardEvents): void {
  const { mount } = tagged(app, tag);
  mount({
    method: 'get',
    path: '/api/events',
    id: 'streamEvents',
    role: 'viewer',
    scope: 'visible',
    summary: 'Stream changes, deliveries and presence as server-sent events',
    query: z.strictObject({
      project: NameSchema.optional().openapi({
        description: 'Only events of this project, and those of no project.',
      }),
    }),
    answer: {
      description:
        'Named events with JSON data: `hello` first, then `change` for every change after it, in order, and ' +
        '`delivery` and `presence` as they happen, and an empty `beat` every 15 seconds. The `actor` of a change is who ' +
        'made it. When the stream ends, or is silent for 45 seconds, fetch everything again and reconnect.',
      schema: z.string(),
      mediaTypes: ['text/event-stream'],
    },
    errors: ['project_not_found'],
    handle: ({ query: { project }, actor, request, stillValid, keepOpen }) => {
      // A stream opened for HEAD would never be read or closed.
      if (request.method === 'HEAD') return new Response(null, { headers: HEADERS });

      const visible = visibleProjects(actor);
      const stream = events.open({ stillValid, ...defined({ project, visible }) });
      keepOpen();
      return new Response(stream, { headers: HEADERS });
    },
  });
}
