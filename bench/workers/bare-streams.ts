import { serveCommands } from '../worker-commands.ts';

/** How the bare server sends its frames, of which the first comes with the stream. */
export interface BareFrames {
  readonly frame: string;
  /** `http` (default) on `Bun.serve` without any hub, `sockets` on plain sockets without HTTP. */
  readonly on?: 'http' | 'sockets';
  /** Default: a free port. */
  readonly port?: number;
}

const commands = { serve };
/** The commands of this worker. */
export type BareStreamsCommands = typeof commands;

serveCommands(commands);

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

/** `/v1/stream` with a loop over the streams for each `/change`. `open-files` starts it by itself. */
export function serve({ frame, on = 'http', port = 0 }: BareFrames): { url: string } {
  const bytes = new TextEncoder().encode(frame);
  return { url: on === 'http' ? serveHttp(bytes, port) : serveSockets(bytes) };
}

function serveHttp(bytes: Uint8Array, port: number): string {
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
  return server.url.href.replace(/\/$/, '');
}

/** Whatever a caller asks, it gets a stream; `POST` makes a change. */
function serveSockets(bytes: Uint8Array): string {
  const chunk = Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]);
  const first = Buffer.concat([Buffer.from(HEAD), chunk]);
  const sockets = new Set<Bun.Socket>();
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket, request) {
        if (request[0] !== 'P'.charCodeAt(0)) {
          sockets.add(socket);
          socket.write(first);
          return;
        }
        for (const reader of sockets) reader.write(chunk);
        socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n');
      },
      close: (socket) => void sockets.delete(socket),
    },
  });
  return `http://127.0.0.1:${server.port}`;
}
