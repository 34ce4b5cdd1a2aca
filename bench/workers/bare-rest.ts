import { serveCommands } from '../worker-commands.ts';

/** The answer of the bare server. */
export interface BareAnswers {
  readonly single: string;
  readonly whole: string;
  /** The headers of the real answer, the same on each. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The commands of this worker. */
export type BareRestCommands = { serve(answers: BareAnswers): { url: string } };

serveCommands({ serve } satisfies BareRestCommands);

/**
 * A server that does nothing but answer constant bytes: what the runtime itself costs. `/body/…` with a content type
 * only, `/same/…` with as many headers as the real answer, `/read/…` as well after reading the request's body.
 */
function serve({ single, whole, headers }: BareAnswers): { url: string } {
  const bytes = { single: new TextEncoder().encode(single), whole: new TextEncoder().encode(whole) };
  const plain = { 'Content-Type': 'application/json' };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    routes: {
      '/body/:key': () => new Response(bytes.single, { headers: plain }),
      '/same/:key': () => new Response(bytes.single, { headers }),
      '/read/:key': async (request) => {
        await request.bytes();
        return new Response(bytes.single, { headers });
      },
      '/body': () => new Response(bytes.whole, { headers: plain }),
      '/same': () => new Response(bytes.whole, { headers }),
    },
  });
  return { url: server.url.href.replace(/\/$/, '') };
}
