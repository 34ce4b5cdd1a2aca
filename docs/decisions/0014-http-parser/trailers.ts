// Prints what Bun.serve answers to one chunked request with a trailer field: 200, and then 400. Run with `bun`.
import { connect } from 'node:net';

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => new Response(await request.text()),
});

const socket = connect(server.port ?? 0, '127.0.0.1', () => {
  const head = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n';
  socket.write(`${head}2\r\nok\r\n0\r\nFoo: bar\r\n\r\n`);
});
socket.on('data', (bytes) => process.stdout.write(bytes));
socket.on('close', () => server.stop(true));
