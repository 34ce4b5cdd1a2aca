import { serveCommands } from '../worker-commands.ts';

/** The frames of the bare server. */
export interface BareFrames {
  /** The first frame of a stream, and every later one. */
  readonly frame: string;
  /** Default: a free port. */
  readonly port?: number;
}

/** The commands of this worker. */
export type BareStreamsCommands = { serve(frames: BareFrames): { url: string } };

serveCommands({ serve } satisfies BareStreamsCommands);

/** `/v1/stream` on `Bun.serve` without any hub: a change is a loop over the streams. `open-files` starts it by itself. */
export function serve({ frame, port = 0 }: BareFrames): { url: string } {
  const bytes = new TextEncoder().encode(frame);
  const controllers = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const open = () => {
    let own: ReadableStreamDefaultController<Uint8Array>;
    return new ReadableStream<Uint8Array>({
      start(controller) {
        own = controller;
        controllers.add(controller);
        controller.enqueue(bytes);
      },
      cancel: () => void controllers.delete(own),
    });
  };

  const server = Bun.serve({
    hostname: '127.0.0.1',
    port,
    routes: {
      '/v1/stream': (request, self) => {
        self.timeout(request, 0);
        return new Response(open(), { headers: { 'Content-Type': 'text/event-stream' } });
      },
      '/v1/flags/:key': () => new Response(bytes, { headers: { 'Content-Type': 'application/json' } }),
      '/change': () => {
        for (const controller of controllers) controller.enqueue(bytes);
        return new Response();
      },
    },
  });
  return { url: server.url.href.replace(/\/$/, '') };
}
