import { OpenAPIHono } from '@hono/zod-openapi';
import type { HeavyCall } from '../management/api/heavy-call.ts';
import { IncomingBodies } from '../management/api/incoming-bodies.ts';
import type { ManagementEnv } from '../management/api/operation.ts';
import type { ManagementContext } from '../management/context.ts';
import { mountNouns } from './nouns.ts';

/** The heavy operations over `context`, for the thread: without authentication, and errors are thrown. */
export function createHeavyOperations(context: ManagementContext): (call: HeavyCall) => Promise<Response> {
  const app = new OpenAPIHono<ManagementEnv>();
  app.onError((error) => {
    throw error;
  });
  app.notFound(({ req }) => {
    throw new Error(`${req.method} ${req.path} cannot run on the thread: its noun needs the node`);
  });

  const bodies = new IncomingBodies();
  app.use(async (c, next) => {
    c.set('bodies', bodies);
    if (c.env.actor !== undefined) c.set('actor', c.env.actor);
    await next();
  });

  const answer = async ({ url, actor, isDocument: _, ...init }: HeavyCall) =>
    app.fetch(new Request(url, init), { actor });
  mountNouns(app, context, answer);
  return answer;
}
