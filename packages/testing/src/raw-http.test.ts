import { afterEach, expect, test } from 'bun:test';
import { createServer, type Server, type Socket } from 'node:net';
import { sendRaw } from './raw-http.ts';

let server: Server | undefined;

afterEach(() => {
  server?.close();
});

test('separates two answers on one connection', async () => {
  using real = Bun.serve({ port: 0, fetch: (request) => new Response(new URL(request.url).pathname) });
  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const exchange = await sendRaw(real.url.href, get('/a') + get('/b'), { answers: 2 });
  expect(exchange.answers.map((answer) => [answer.status, answer.text])).toEqual([
    [200, '/a'],
    [200, '/b'],
  ]);
});

test('joins a chunked answer that arrives byte by byte', async () => {
  const url = await serveBytes(
    'HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nX-A: 1\r\nX-A: 2\r\n\r\n' +
      '5;ext=1\r\nhello\r\n6\r\n world\r\n0\r\n\r\n',
  );
  const { answers, ended } = await sendRaw(url, 'anything\r\n\r\n');
  expect(answers).toHaveLength(1);
  expect(answers[0]).toMatchObject({ status: 201, reason: 'Created', text: 'hello world' });
  expect(answers[0]?.rawHeaders.filter(([name]) => name === 'X-A')).toEqual([
    ['X-A', '1'],
    ['X-A', '2'],
  ]);
  expect(ended).toBe('closed');
});

test('an answer without a length lasts until the connection ends', async () => {
  const url = await serveBytes('HTTP/1.1 200 OK\r\n\r\nall of this');
  expect((await sendRaw(url, 'x')).answers[0]?.text).toBe('all of this');
});

test('rejects an answer that is cut off', async () => {
  const url = await serveBytes('HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nonly this');
  const exchange = await sendRaw(url, 'x');
  expect(exchange.answers).toEqual([]);
  expect(exchange.bytes.toString()).toEndWith('only this');
});

test('distinguishes a torn connection from a closed one', async () => {
  const url = await serve((socket) => socket.resetAndDestroy());
  expect((await sendRaw(url, 'x')).ended).toBe('reset');
});

test('rejects what is not HTTP', async () => {
  const url = await serveBytes('SSH-2.0-OpenSSH\r\n\r\n');
  await expect(sendRaw(url, 'x')).rejects.toThrow('no HTTP');
});

async function serveBytes(text: string): Promise<string> {
  return await serve(async (socket) => {
    for (const character of text) {
      socket.write(character);
      await new Promise((resolve) => setImmediate(resolve));
    }
    socket.end();
  });
}

async function serve(answer: (socket: Socket) => void): Promise<string> {
  server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => answer(socket));
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return `http://127.0.0.1:${address.port}/`;
}
