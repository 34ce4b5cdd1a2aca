// Prints what Bun.serve answers to methods it does not know: nothing, the connection is closed. Run with `bun`.
import { connect } from 'node:net';

const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('ok') });

for (const method of ['GET', 'PROPFIND', 'FOO', 'TRACK', 'DEBUG', 'get']) {
  const answer = await new Promise<string>((resolve) => {
    let received = '';
    const socket = connect(server.port ?? 0, '127.0.0.1', () => {
      socket.write(`${method} / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    });
    socket.on('data', (bytes) => {
      received += bytes;
    });
    socket.on('close', () => resolve(received));
  });
  process.stdout.write(`${method}: ${JSON.stringify(answer.split('\r\n')[0])}\n`);
}
await server.stop(true);
