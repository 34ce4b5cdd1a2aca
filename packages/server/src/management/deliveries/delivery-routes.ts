import { z } from '@hono/zod-openapi';
import { type Delivery, type DeliveryReader, totalOf } from '../../domain/delivery.ts';
import { isoTime, ok } from '../api/answers.ts';
import type { ManagementApp } from '../api/management-app.ts';
import { mount } from '../api/operation.ts';
import { NameSchema, TimeSchema } from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';
import { readSeq } from '../rules.ts';
import { getDelivery, listDeliveries } from './deliveries.ts';

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
