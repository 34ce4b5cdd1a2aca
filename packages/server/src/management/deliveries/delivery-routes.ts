import { z } from '@hono/zod-openapi';
import { type Delivery, type DeliveryReader, totalOf } from '../../domain/delivery.ts';
import { isoTime, isoTimeOr, ok } from '../api/answers.ts';
import type { ManagementApp } from '../api/management-app.ts';
import { mount } from '../api/operation.ts';
import { NameSchema, TimeSchema } from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';
import { readSeq } from '../rules.ts';
import { type KeyClients, listClients } from './presence.ts';
import { getDelivery, listDeliveries } from './receipts.ts';

const tag = 'Activity';

const countMembers = {
  streams: z.number().int().openapi({ description: 'Streams that were open when the frame went out.' }),
  seen: z.number().int().openapi({ description: 'Those of them whose connection took the frame.' }),
  slowestMs: z
    .number()
    .int()
    .openapi({ description: 'From the commit to the slowest of the seen; 0 where there is none.' }),
} as const;

const DeliverySchema = z
  .object({
    seq: z.number().int(),
    project: NameSchema,
    environment: NameSchema,
    revision: z.number().int(),
    committedAt: TimeSchema,
    ...countMembers,
  })
  .openapi('Delivery');

const DeliveryByNodeSchema = DeliverySchema.extend({
  nodes: z.array(z.object({ node: z.string(), ...countMembers, at: TimeSchema })),
}).openapi('DeliveryByNode');

/** Mounts the routes that tell how far changes have got. */
export function mountDeliveries(
  app: ManagementApp,
  context: ManagementContext,
  deliveries: DeliveryReader,
): void {
  mount(
    app,
    {
      ...{ method: 'get', path: '/api/changes/{seq}/delivery', id: 'getDelivery', tag, role: 'viewer' },
      summary: 'How far one change has got, by node',
      answer: { status: 200, description: 'The receipts.', schema: DeliveryByNodeSchema },
      errors: ['invalid_argument', 'not_found'],
    },
    async ({ params }) => {
      const delivery = await getDelivery(deliveries, readSeq(params.seq));
      const nodes = delivery.receipts.map(({ node, streams, seen, slowestMs, at }) => ({
        ...{ node, streams, seen, slowestMs },
        at: isoTime(at),
      }));
      return ok({ ...record(delivery), nodes });
    },
  );
  mount(
    app,
    {
      ...{ method: 'get', path: '/api/projects/{project}/deliveries', id: 'listDeliveries', tag },
      role: 'viewer',
      summary: 'How far the newest changes of a project have got, newest first',
      query: z.strictObject({ limit: z.coerce.number().int().min(1).max(500).default(50) }),
      answer: {
        status: 200,
        description: 'The changes that went to streams and are not too long ago.',
        schema: z.object({ deliveries: z.array(DeliverySchema) }),
      },
      errors: ['project_not_found'],
    },
    async ({ params: { project }, query: { limit } }) => {
      const list = await listDeliveries(context, deliveries, { project, limit });
      return ok({ deliveries: list.map(record) });
    },
  );
}

function record({ seq, project, environment, revision, committedAt, receipts }: Delivery) {
  const { streams, seen, slowestMs } = totalOf(receipts);
  return {
    ...{ seq, project, environment, revision, committedAt: isoTime(committedAt) },
    ...{ streams, seen, slowestMs },
  };
}

const totals = {
  streams: z.number().int().openapi({ description: 'Open streams, over all nodes.' }),
  nodes: z.number().int().openapi({ description: 'Nodes that hold them.' }),
} as const;

const ClientsSchema = z
  .object({
    environment: NameSchema,
    ...totals,
    keys: z.array(
      z.object({
        ...{ id: z.string(), name: z.string(), lastFour: z.string(), ...totals },
        lastSeenAt: TimeSchema.optional().openapi({
          description:
            'When its streams were last heard of; without streams, when the key was last used anywhere.',
        }),
      }),
    ),
  })
  .openapi('Clients');

/** Mounts the route that tells who is connected. */
export function mountClients(
  app: ManagementApp,
  context: ManagementContext,
  deliveries: DeliveryReader,
): void {
  mount(
    app,
    {
      ...{ method: 'get', path: '/api/projects/{project}/clients', id: 'listClients', tag: 'Activity' },
      role: 'viewer',
      summary: 'Who is connected to a project: streams by environment and key, over all nodes',
      answer: {
        status: 200,
        description: 'The environments; each node renews its figures within two seconds of a change.',
        schema: z.object({ environments: z.array(ClientsSchema) }),
      },
      errors: ['project_not_found'],
    },
    async ({ params }) => {
      const list = await listClients(context, deliveries, params.project);
      const environments = list.map(({ keys, ...environment }) => ({
        ...environment,
        keys: keys.map(keyRecord),
      }));
      return ok({ environments });
    },
  );
}

function keyRecord({ lastSeenAt, ...key }: KeyClients) {
  return { ...key, lastSeenAt: isoTimeOr(lastSeenAt) };
}

/** Where the events for screens come from. */
export interface ScreenEvents {
  /** Opens a stream of events, or throws what it is refused with. */
  open(request: {
    readonly project?: string;
    readonly stillValid: () => Promise<boolean>;
  }): ReadableStream<Uint8Array>;
}

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-cache, no-transform',
  'X-Accel-Buffering': 'no',
} as const;

/** Mounts the route of the events for screens. */
export function mountEvents(app: ManagementApp, events: ScreenEvents): void {
  mount(
    app,
    {
      ...{ method: 'get', path: '/api/events', id: 'streamEvents', tag: 'Activity', role: 'viewer' },
      summary: 'What happens, as it happens, as server-sent events',
      query: z.strictObject({
        project: NameSchema.optional().openapi({
          description: 'Only what concerns this project, and what belongs to no project.',
        }),
      }),
      answer: {
        status: 200,
        description:
          'Named events with JSON data: `hello` first, then `change` for every change after it, in order, and ' +
          '`delivery` and `presence` as they come, and an empty `beat` every 15 seconds. A change tells who made it as ' +
          '`actor`. When the stream ends, or says nothing for 45 seconds, fetch anew and open another.',
        schema: z.string(),
        mediaTypes: ['text/event-stream'],
      },
      errors: ['project_not_found'],
    },
    ({ query: { project }, request, stillValid, keepOpen }) => {
      // Nobody would read, and so nobody would ever close, a stream opened for HEAD.
      if (request.method === 'HEAD') return new Response(null, { headers: HEADERS });
      const stream = events.open({ stillValid, ...(project === undefined ? {} : { project }) });
      keepOpen();
      return new Response(stream, { headers: HEADERS });
    },
  );
}
