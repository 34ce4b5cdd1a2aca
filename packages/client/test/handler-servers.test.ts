import { afterEach, describe, expect, test } from 'bun:test';
import { EventEmitter } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect } from 'node:net';
import { MAX_OFREP_BYTES } from '@halyard/protocol';
import { PATIENCE_MS, until } from '@halyard/testing';
import { type FlagsHandler, toNodeListener } from '../src/handler.ts';
import { createClient, type FlagsClient } from '../src/index.ts';
import type { createTestClient } from '../src/testing.ts';
import { closeAll, closers, make as makeHandler } from './support/handlers.ts';

afterEach(closeAll);

const FLAGS = { a: { enabled: true, value: 1 }, half: { enabled: true, rolloutPct: 50 } };
const BULK = '/flags/ofrep/v1/evaluate/flags';

const make = (options: Parameters<typeof makeHandler>[0] = {}) => makeHandler(options, FLAGS);

/** Starts a server of Node; gives its port. */
async function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
}

function streamRequest(): Request {
  return new Request('https://app.example/flags/v1/stream?env=production');
}

/** Waits until a handler that allows one stream has room for it. */
async function freed(handler: FlagsHandler): Promise<void> {
  const stream = await until('the place of the stream is free', async () => {
    const { status, body } = await handler(streamRequest());
    return status === 200 && body;
  });
  await stream.cancel();
}

function post(port: number, path: string, body: string): Promise<Response> {
  return fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', body });
}

describe('a server of Node', () => {
  test('a reader that left before it was answered holds no stream', async () => {
    const entered = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    let asked = 0;
    const { handler } = make({
      maxStreams: 1,
      authorize: async () => {
        if (asked++ > 0) return true;
        entered.resolve();
        await left.promise;
        return true;
      },
    });
    const served = Promise.withResolvers<void>();
    const listener = toNodeListener(
      Object.assign(
        async (request: Request) => {
          const response = await handler(request);
          setImmediate(served.resolve);
          return response;
        },
        { close: () => {} },
      ),
    );
    const port = await listen((request, response) => {
      response.once('close', left.resolve);
      listener(request, response);
    });
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /flags/v1/stream?env=production HTTP/1.1\r\nHost: a\r\n\r\n');
    await entered.promise;
    socket.destroy();
    await served.promise;
    await freed(handler);
  });

  test('a reader that left while its answer waited behind another one holds no stream', async () => {
    const { handler } = make({ maxStreams: 1 });
    const listener = toNodeListener(handler);
    // As in Node before 26: of two requests that came at once, only the first answer hears the connection's end.
    const opened = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const waiting = Object.assign(new EventEmitter(), {
      writeHead: () => {},
      write: () => {
        opened.resolve();
        return true;
      },
      end: () => ended.resolve(),
    });
    const socket = new EventEmitter();
    const request = { url: '/flags/v1/stream?env=production', headers: {}, socket };
    listener(request, waiting);
    await opened.promise;
    expect((await handler(streamRequest())).status).toBe(500);
    socket.emit('close');
    await ended.promise;
    await freed(handler);
    const answered = Promise.withResolvers<void>();
    const late = toNodeListener(
      Object.assign(
        async (incoming: Request) => {
          setImmediate(answered.resolve);
          return await handler(incoming);
        },
        { close: () => {} },
      ),
    );
    late({ ...request, socket: Object.assign(socket, { destroyed: true }) }, waiting);
    await answered.promise;
    await freed(handler);
  });

  test('an answer that was sent already holds no stream', async () => {
    const { handler } = make({ maxStreams: 1 });
    const listener = toNodeListener(handler);
    const port = await listen((request, response) => {
      response.writeHead(503).end('too late');
      listener(request, response);
    });
    expect((await fetch(`http://127.0.0.1:${port}/v1/stream?env=production`)).status).toBe(503);
    await freed(handler);
  });

  test('two slashes at the beginning of a path are part of the path', async () => {
    const port = await listen(toNodeListener(make().handler));
    const socket = connect(port, '127.0.0.1');
    socket.write('GET //v1/flags?env=production HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    let text = '';
    for await (const piece of socket) text += piece;
    expect(text).toStartWith('HTTP/1.1 200 ');
  });

  test.each(['//[/v1/flags', 'http://[/v1/flags?env=production'])('refuses the target %s', async (target) => {
    const port = await listen(toNodeListener(make().handler));
    const socket = connect(port, '127.0.0.1');
    socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    let text = '';
    for await (const piece of socket) text += piece;
    expect(text).toStartWith('HTTP/1.1 400 ');
    expect(text).toContain('"error":"invalid_argument"');
  });

  test('passes bodies on', async () => {
    const port = await listen(toNodeListener(make().handler));
    const response = await post(port, `${BULK}/half`, '{"context":{"targetingKey":"user-1"}}');
    expect(await response.json()).toMatchObject({ key: 'half', reason: 'SPLIT' });
    const large = await post(port, BULK, 'x'.repeat(4 * MAX_OFREP_BYTES));
    expect([large.status, ((await large.json()) as { errorCode: string }).errorCode]).toEqual([
      400,
      'PARSE_ERROR',
    ]);
  });

  test.each([
    ['an object', { context: { targetingKey: 'user-1' } }],
    ['a string', '{"context":{"targetingKey":"user-1"}}'],
    ['a buffer', Buffer.from('{"context":{"targetingKey":"user-1"}}')],
  ])('takes a body that a parser has read and made %s', async (_, body) => {
    const listener = toNodeListener(make().handler);
    const port = await listen((request, response) => {
      request.resume().once('end', () => listener(Object.assign(request, { body }), response));
    });
    const answer = await (await post(port, `${BULK}/half`, JSON.stringify({ context: {} }))).json();
    expect(answer).toMatchObject({ key: 'half', reason: 'SPLIT' });
  });

  test('a caller that leaves in the middle of its body is forgotten', async () => {
    const entered = Promise.withResolvers<void>();
    const handled = Promise.withResolvers<number>();
    const { handler } = make();
    const listener = toNodeListener(
      Object.assign(
        async (request: Request) => {
          const response = await handler(request);
          handled.resolve(response.status);
          return response;
        },
        { close: () => {} },
      ),
    );
    const port = await listen((request, response) => {
      listener(request, response);
      entered.resolve();
    });
    const leaving = new AbortController();
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('{"context":')),
    });
    const sent = fetch(`http://127.0.0.1:${port}${BULK}`, {
      method: 'POST',
      body,
      signal: leaving.signal,
    }).catch(() => {});
    await entered.promise;
    leaving.abort();
    await sent;
    expect(await handled.promise).toBe(400);
  });
});

test.each(['Bun', 'Node'])('a server of %s ends the connection of a reader that was cut', async (runtime) => {
  const { client, handler } = make();
  let port: number | undefined;
  if (runtime === 'Node') port = await listen(toNodeListener(handler));
  else {
    const server = Bun.serve({ port: 0, idleTimeout: 0, fetch: handler });
    closers.push(() => server.stop(true));
    port = server.port;
  }
  const socket = connect(port ?? 0, '127.0.0.1');
  closers.push(() => socket.destroy());
  socket.on('error', () => {}); // reset, on some runtimes
  const ended = new Promise((resolve) => socket.once('close', resolve));
  const opened = new Promise((resolve) => socket.once('readable', resolve));
  socket.write('GET /flags/v1/stream?env=production HTTP/1.1\r\nHost: localhost\r\n\r\n');
  await opened; // and read no further
  for (let i = 0; i < 100; i++) {
    client.set('a', { enabled: true, value: `${i}${'x'.repeat(200_000)}` });
    await new Promise(setImmediate);
  }
  socket.resume();
  await ended;
  expect(client.getValue('a', '')).toStartWith('99');
});

describe('a client on the handler', () => {
  async function follows(baseUrl: string, upstream: ReturnType<typeof createTestClient>): Promise<void> {
    const page: FlagsClient = createClient({
      apiKey: false,
      environment: 'production',
      baseUrl,
      logger: false,
      readyTimeoutMs: PATIENCE_MS,
      requestTimeoutMs: PATIENCE_MS,
    });
    closers.push(() => page.close());
    expect((await page.ready()).status).toBe('ready');
    expect(page.getValue('a', 0)).toBe(1);
    const changed = new Promise((resolve) => page.onChange(resolve));
    upstream.set('a', { enabled: true, value: 2 });
    await changed;
    expect(page.getValue('a', 0)).toBe(2);
    expect(page.revision).toBe(upstream.revision);
  }

  test('follows it through Bun.serve', async () => {
    const { client, handler } = make();
    const server = Bun.serve({ port: 0, idleTimeout: 0, fetch: handler });
    closers.push(() => server.stop(true));
    await follows(`${server.url.origin}/flags`, client);
  });

  test('follows it through a server of Node, as Express would mount it', async () => {
    const { client, handler } = make();
    const port = await listen(toNodeListener(handler));
    await follows(`http://127.0.0.1:${port}/flags`, client);
    const forged = await fetch(`http://127.0.0.1:${port}/flags/v1/flags?env=production`, {
      headers: { Host: 'a b' },
    }).catch(() => undefined);
    if (forged) expect([200, 400]).toContain(forged.status);
  });
});
