import { afterAll, expect, test } from 'bun:test';
import { connect } from 'node:net';
import { openSse, sendRaw, until, within } from '@halyard/testing';
import pino from 'pino';
import { STREAM_FIELDS } from './event-stream.ts';
import { forwardTo, newInnerAddress } from './forwarding.ts';
import { Listeners } from './listeners.ts';
import { IDLE_SECONDS } from './request.ts';

const log = pino({ level: 'silent' });
const docsUrl = 'http://docs.example';

/** What the process behind the inner address saw and did. */
interface Seen {
  request?: {
    method: string;
    url: string;
    headers: Record<string, string>;
    body: string;
    ip: string | undefined;
  };
  events?: ReadableStreamDefaultController<Uint8Array>;
  gone: number;
  sent: number;
}

const seen: Seen = { gone: 0, sent: 0 };
const inner = newInnerAddress();
const behind = new Listeners({ host: '127.0.0.1', port: 0, reusePort: false, inner });
behind.serve({
  evaluation: {},
  health: { '/healthz': () => new Response('well') },
  scrape: () => new Response('metrics'),
  docs: async (request, server) => {
    const { pathname } = new URL(request.url);
    const ip = server.requestIP(request)?.address;
    if (pathname === '/events') {
      server.timeout(request, 0);
      return new Response(eventStream(), {
        headers: { 'Content-Type': 'text/event-stream', ...STREAM_FIELDS },
      });
    }
    if (pathname === '/large') return new Response(endless());
    const { method, url, headers } = request;
    seen.request = { method, url, headers: Object.fromEntries(headers), body: await request.text(), ip };
    const answer = new Headers({
      'Content-Encoding': 'gzip',
      'X-Answer': 'yes',
      Connection: 'X-Secret',
      'X-Secret': '1',
    });
    for (const cookie of ['a=1', 'b=2']) answer.append('Set-Cookie', cookie);
    return new Response(Bun.gzipSync('answer'), { status: 207, headers: answer });
  },
  docsUrl,
  log,
});
const forward = forwardTo(inner, { docsUrl, log });
const front = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: forward });
const url = `http://127.0.0.1:${front.port}`;

afterAll(async () => {
  await front.stop(true);
  await behind.close();
});

function eventStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start: (controller) => {
      seen.events = controller;
      controller.enqueue(new TextEncoder().encode('data: first\n\n'));
    },
    cancel: () => {
      seen.gone++;
    },
  });
}

function endless(): ReadableStream<Uint8Array> {
  const chunk = new Uint8Array(65_536);
  return new ReadableStream({
    pull: (controller) => {
      seen.sent += chunk.length;
      controller.enqueue(chunk);
    },
    cancel: () => {
      seen.gone++;
    },
  });
}

test('passes a request on and its answer back as they are', async () => {
  const response = await fetch(`${url}/a%2Fb/c?q=%20x`, {
    method: 'PATCH',
    headers: { 'X-Ask': 'yes', Cookie: 'c=3', 'Accept-Encoding': 'gzip' },
    body: 'body',
    decompress: false,
  } as BunFetchRequestInit);
  expect(seen.request).toMatchObject({ method: 'PATCH', url: `${url}/a%2Fb/c?q=%20x`, body: 'body' });
  expect(seen.request?.headers).toMatchObject({ 'x-ask': 'yes', cookie: 'c=3', host: new URL(url).host });
  expect(response.status).toBe(207);
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2']);
  expect(response.headers.get('X-Answer')).toBe('yes');
  expect(new TextDecoder().decode(Bun.gunzipSync(await response.arrayBuffer()))).toBe('answer');
});

test('says who asks by the connection, whatever the client says', async () => {
  const headers = { 'X-Halyard-Inner-Caller': '9.9.9.9', 'X-Halyard-Inner-Token': 'guess' };
  await fetch(`${url}/`, { headers });
  expect(seen.request?.ip).toBe('127.0.0.1');
});

test('a connection may be idle as long as any other once its request is answered, unless that is a stream', async () => {
  const limits: number[] = [];
  const watched = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, server) => {
      const timeout = (of: Request, seconds: number) => {
        limits.push(seconds);
        server.timeout(of, seconds);
      };
      // `Server`: passing on uses these two.
      return forward(request, { timeout, requestIP: (of: Request) => server.requestIP(of) } as typeof server);
    },
  });
  const address = watched.url.origin;
  await (await fetch(`${address}/`)).body?.cancel();
  expect(limits).toEqual([0, IDLE_SECONDS]);
  const stream = await openSse(`${address}/events`);
  expect(limits).toEqual([0, IDLE_SECONDS, 0]);
  stream.close();
  await watched.stop(true);
});

test('an answer that was passed on ends for a client that takes nothing, and a stream does not', async () => {
  const impatient = forwardTo(inner, { docsUrl, log, silenceMs: 50 });
  await using outside = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: impatient });
  const { gone } = seen;
  const socket = connect(Number(outside.port), '127.0.0.1');
  socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
  socket.pause();
  await until('the other process may stop', () => seen.gone > gone);
  socket.destroy();
  // A stream without an end is silent as long as nothing happens.
  const stream = await openSse(`${outside.url.origin}/events`);
  await Promise.all([stream.nextFrame(), Bun.sleep(100)]);
  seen.events?.enqueue(new TextEncoder().encode('data: second\n\n'));
  expect((await stream.nextFrame()).data).toBe('second');
  stream.close();
});

test('the addresses that processes use among themselves cannot be reached from outside', async () => {
  const { answers } = await sendRaw(url, 'GET /inner/log/v1 HTTP/1.1\r\nHost: a\r\n\r\n', { answers: 1 });
  expect(answers[0]?.status).toBe(404);
});

test('fields of one connection do not pass, in either direction', async () => {
  const lines = [
    'Host: a',
    'Connection: close, X-Mine',
    'X-Mine: 1',
    'Keep-Alive: 1',
    'TE: trailers',
    'Upgrade: h2c',
  ];
  const { answers } = await sendRaw(url, `GET / HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, { answers: 1 });
  const names = Object.keys(seen.request?.headers ?? {});
  for (const name of ['x-mine', 'keep-alive', 'te', 'upgrade', 'transfer-encoding'])
    expect(names).not.toContain(name);
  expect(answers[0]?.headers.get('X-Secret')).toBeNull();
});

test('a body cannot smuggle a request', async () => {
  const smuggled = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n';
  const chunked = `${smuggled.length.toString(16)}\r\n${smuggled}\r\n0\r\n\r\n`;
  const head = 'POST /outer HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n';
  const { answers } = await sendRaw(url, head + chunked, { answers: 1 });
  expect(answers.length).toBe(1);
  expect(seen.request).toMatchObject({ url: 'http://a/outer', body: smuggled });
});

test('answers health checks of HTTP/1.0, which name no host', async () => {
  const { answers } = await sendRaw(url, 'GET /healthz HTTP/1.0\r\n\r\n', { answers: 1 });
  expect(answers[0]).toMatchObject({ status: 200, text: 'well' });
});

test('an event stream flows at once, and the end of either side ends the other', async () => {
  const stream = await openSse(`${url}/events`);
  expect((await stream.nextFrame()).data).toBe('first');
  seen.events?.enqueue(new TextEncoder().encode('data: second\n\n'));
  expect((await stream.nextFrame()).data).toBe('second');
  const { gone } = seen;
  stream.close();
  await until('the stream behind is cancelled', () => seen.gone > gone);

  const closed = await openSse(`${url}/events`);
  await closed.nextFrame();
  seen.events?.close();
  expect((await closed.untilEnded()).how).toBe('closed');

  const cut = await openSse(`${url}/events`);
  await cut.nextFrame();
  seen.events?.error(new Error('cut'));
  expect((await cut.untilEnded()).how).not.toBe('closed');
});

test('a connection ends with the stream that it carried', async () => {
  const exchange = sendRaw(url, 'GET /events HTTP/1.1\r\nHost: a\r\n\r\n');
  const { events } = seen;
  await until('the stream is open', () => seen.events !== events);
  seen.events?.close();
  expect((await exchange).ended).toBe('closed');
});

test('a body that stops coming is the fault of its sender, and ends its connection', async () => {
  const silent = newInnerAddress();
  const idle = {
    unix: silent.socket,
    fetch: (request: Request) => request.text().then(Response.json),
  };
  await using _ = Bun.serve(idle);
  const patient = forwardTo(silent, { docsUrl, log, idleSeconds: 0.02 });
  await using outside = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 60, fetch: patient });
  const half = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf';
  const { answers, ended } = await sendRaw(outside.url.href, half, { timeoutMs: 30_000 });
  expect([answers[0]?.status, ended]).toEqual([400, 'closed']);
  expect(JSON.parse(answers[0]?.text ?? '')).toMatchObject({
    error: 'invalid_argument',
    message: 'The body broke off before its end: send all of it.',
  });
});

test('a process that does not answer in time is away', async () => {
  const mute = newInnerAddress();
  await using _ = Bun.serve({ unix: mute.socket, fetch: () => new Promise<Response>(() => {}) });
  const forwarding = forwardTo(mute, { docsUrl, log, answerMs: 50 });
  await using outside = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: forwarding });
  const response = await within('an answer', fetch(outside.url));
  expect(response.status).toBe(500);
});

test('a reader that stops reading stops the sender, and memory does not fill', async () => {
  seen.sent = 0;
  const { gone } = seen;
  const socket = connect({ host: '127.0.0.1', port: front.port ?? 0 });
  const first = Promise.withResolvers<void>();
  socket.once('data', () => {
    socket.pause();
    first.resolve();
  });
  socket.write('GET /large HTTP/1.1\r\nHost: a\r\n\r\n');
  await first.promise;
  let before = -1;
  await until('the sender stops', async () => {
    const isStill = seen.sent === before;
    before = seen.sent;
    await Bun.sleep(50);
    return isStill;
  });
  expect(seen.sent).toBeLessThan(64 * 1024 * 1024);
  socket.destroy();
  await until('the stream behind is cancelled', () => seen.gone > gone);
});

test('the inner address serves only those that know its token', async () => {
  for (const path of ['/', '/healthz', '/metrics']) {
    const response = await fetch(`http://localhost${path}`, { unix: inner.socket } as BunFetchRequestInit);
    expect([path, response.status]).toEqual([path, 403]);
  }
});

test('answers 500 with Retry-After while the other process is away', async () => {
  const away = forwardTo(newInnerAddress(), { docsUrl, log });
  using server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: away });
  const response = await within('an answer', fetch(server.url));
  expect(response.status).toBe(500);
  expect(response.headers.get('Retry-After')).not.toBeNull();
  expect(await response.json()).toMatchObject({ error: 'internal_error' });
});
