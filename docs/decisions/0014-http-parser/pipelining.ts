// Prints what Bun.serve answers to two requests at once, and to a request with an empty line behind it. Run with `bun`.
import { connect } from 'node:net';

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  routes: {
    '/now': () => new Response('now'),
    '/soon': () => new Promise<Response>((resolve) => setImmediate(() => resolve(new Response('soon')))),
    '/large': () => new Response(new Uint8Array(32 * 1024 * 1024)),
  },
});

const request = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
for (const [first, second] of [
  [request('/now'), request('/now')],
  [request('/soon'), request('/now')],
  [request('/large'), request('/now')],
  [request('/now'), '\r\n'],
  [request('/soon'), '\r\n'],
]) {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const pieces: Buffer[] = [];
  const socket = connect(server.port ?? 0, '127.0.0.1', () => socket.write(`${first}${second}`));
  socket.on('data', (piece) => pieces.push(piece));
  socket.on('close', () => resolve(Buffer.concat(pieces)));
  socket.setTimeout(500, () => socket.destroy());

  const bytes = await promise;
  const statuses = bytes.toString('latin1').match(/HTTP\/1\.1 \d+/g) ?? [];
  process.stdout.write(`${JSON.stringify([first, second])}: ${bytes.length} bytes, ${statuses.join(', ')}\n`);
}
await server.stop(true);
