import { serveCommands } from '../worker-commands.ts';
import type { BareStreamsCommands } from './bare-streams.ts';

serveCommands({ serve } satisfies BareStreamsCommands);

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n';

/** The floor: plain sockets, no HTTP server. Whatever a caller asks, it gets a stream; `POST` makes a change. */
function serve({ frame }: { readonly frame: string }): { url: string } {
  const chunk = new TextEncoder().encode(`${Buffer.byteLength(frame).toString(16)}\r\n${frame}\r\n`);
  const first = Buffer.concat([new TextEncoder().encode(HEAD), chunk]);
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
  return { url: `http://127.0.0.1:${server.port}` };
}
