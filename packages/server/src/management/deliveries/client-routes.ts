import { z } from '@hono/zod-openapi';
import type { DeliveryReader } from '../../domain/delivery.ts';
import { isoTimeOr, ok } from '../api/answers.ts';
import type { ManagementApp } from '../api/management-app.ts';
import { mount } from '../api/operation.ts';
import { NameSchema, TimeSchema } from '../api/schemas.ts';
import type { ManagementContext } from '../context.ts';
import { type KeyClients, listClients } from './clients.ts';

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
