import type { Answers } from '../references.ts';
import { serveCommands } from '../worker-commands.ts';

const commands = { serve };
/** The commands of this worker. */
export type BareRestCommands = typeof commands;

serveCommands(commands);

/**
 * A server that does nothing but answer constant bytes: what the runtime itself costs. `/body/…` with a content type
 * only, `/same/…` with as many headers as the real answer, `/read/…` as well after reading the request's body. All
 * headers are made once and kept.
 */
function serve({ one, all, headers }: Answers): { url: string } {
  const bytes = { single: new TextEncoder().encode(one), whole: new TextEncoder().encode(all) };
  const plain = { headers: new Headers({ 'Content-Type': 'application/json' }) };
  const same = { headers: new Headers(headers) };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    routes: {
      '/body/:key': () => new Response(bytes.single, plain),
      '/same/:key': () => new Response(bytes.single, same),
      '/read/:key': async (request) => {
        await request.bytes();
        return new Response(bytes.single, same);
      },
      '/body': () => new Response(bytes.whole, plain),
      '/same': () => new Response(bytes.whole, same),
    },
  });
  return { url: server.url.href.replace(/\/$/, '') };
}
