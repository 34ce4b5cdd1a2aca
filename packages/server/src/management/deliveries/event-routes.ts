import { z } from '@hono/zod-openapi';
import type { ManagementApp } from '../api/management-app.ts';
import { mount } from '../api/operation.ts';
import { NameSchema } from '../api/schemas.ts';

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
