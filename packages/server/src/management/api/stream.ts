import { z } from '@hono/zod-openapi';
import type { OpenStream } from '../../domain/read-side.ts';
import type { ManagementApp } from './environment.ts';
import { mount } from './operation.ts';

/** Mounts the route of the stream: the frames of `/v1/stream`, for whoever manages the project. */
export function mountStream(app: ManagementApp, openStream: OpenStream): void {
  mount(
    app,
    {
      method: 'get',
      path: '/api/projects/{project}/environments/{environment}/stream',
      id: 'streamEnvironment',
      tag: 'Flag states',
      role: 'viewer',
      summary: 'The flag map of an environment, now and after each change, as server-sent events',
      answer: {
        status: 200,
        description: 'Frames `data: <flag map>`, the first one at once.',
        schema: z.string(),
        mediaTypes: ['text/event-stream'],
      },
      errors: ['project_not_found', 'environment_not_found'],
    },
    ({ params, request, stillValid, keepOpen }) => {
      // Nobody would read, and so nobody would ever close, a stream opened for HEAD.
      if (request.method === 'HEAD')
        return new Response(null, { headers: { 'Content-Type': 'text/event-stream' } });
      const answer = openStream(params.project, params.environment, { request, stillValid });
      keepOpen();
      return answer;
    },
  );
}
