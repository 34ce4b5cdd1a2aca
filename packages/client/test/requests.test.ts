import { describe, expect, test } from 'bun:test';
import type { Fetch } from '../src/index.ts';
import { harness, RECOVERY_MS } from './support/harness.ts';
import { errorAnswer, refuse, ScriptedServer } from './support/scripted-server.ts';

describe('what a request and its failure say', () => {
  test('each request accepts exactly the type that it expects', async () => {
    const { client, server } = harness();
    await client.ready();
    await client.refresh();
    const accepted = new Map(server.requests.map(({ path, headers }) => [path, headers.get('Accept')]));
    expect([...accepted].sort()).toEqual([
      ['/v1/flags', 'application/json'],
      ['/v1/stream', 'text/event-stream'],
    ]);
  });

  test.each([
    [
      'Node',
      Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } }),
      'ECONNREFUSED',
    ],
    [
      'Bun',
      Object.assign(new Error('Unable to connect.'), { code: 'ConnectionRefused' }),
      'ConnectionRefused',
    ],
    ['a browser', new TypeError('Failed to fetch'), 'TypeError'],
  ])('a failure in %s names its reason and the address', async (_, thrown, reason) => {
    const { client } = harness({ mode: 'manual', fetch: () => Promise.reject(thrown) });
    const { error } = await client.ready();
    expect(error?.message).toBe(`${thrown.message} (${reason}) https://flags.example`);
  });

  test('the cause of a failure is a copy with its name and its code, as the error itself may hold the request', async () => {
    const thrown = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' }, more: 1 });
    const { client } = harness({ mode: 'manual', fetch: () => Promise.reject(thrown) });
    const { cause } = (await client.ready()).error ?? {};
    expect(cause).toBeInstanceOf(Error);
    expect({ ...(cause as object) }).toEqual({ name: 'TypeError', code: 'ECONNREFUSED' });
  });

  test.each([null, undefined, 0, '', {}, Symbol('left')])(
    'a fetch that rejects with %p is asked again as after any failure',
    async (thrown) => {
      const { platform, client, server, codes } = harness();
      server.fail(() => Promise.reject(thrown));
      void client.ready();
      await platform.advance(10_000);
      expect(server.requests.length).toBeLessThan(10);
      expect(codes()).toContain('network_error');
    },
  );

  test('no proxy may answer from a cache: Bun and Deno do not say so by themselves', async () => {
    const { client, server } = harness({ mode: 'manual' });
    await client.refresh();
    expect(server.requests[0]?.headers.get('Cache-Control')).toBe('no-cache');
  });

  test('a server with ever new codes gets a line of the log for each status', async () => {
    const lines: string[] = [];
    const { client, server } = harness({
      mode: 'manual',
      onError: undefined as never,
      logger: { warn: (line) => lines.push(line) },
    });
    let count = 0;
    server.onRest = () =>
      errorAnswer(count % 2 ? 500 : 429, `code_${String(count++).replace(/\d/g, 'x'.repeat(count))}`);
    for (let i = 0; i < 20; i++) await client.refresh();
    expect(count).toBe(20);
    expect(lines).toHaveLength(2);
  });

  test('a log that takes details hears what the connection does', async () => {
    const lines: string[] = [];
    const log = { warn: () => {}, debug: (line: string) => lines.push(line) };
    const { client, server, platform } = harness({ logger: log });
    await client.ready();
    server.latest.end();
    await platform.advance(2_000);
    await client.refresh();
    expect(lines).toEqual([
      '[halyard] stream opened, revision 1',
      '[halyard] stream ended',
      '[halyard] stream opened, revision 1',
      '[halyard] flags loaded, revision 1',
    ]);
  });

  test.each([
    ['throws', () => refuse()],
    ['rejects', () => Promise.reject(new Error('no'))],
  ])('a log that %s holds up nothing', async (_, debug) => {
    const { client } = harness({ logger: { warn: () => {}, debug } });
    expect(await client.ready()).toEqual({ status: 'ready' });
  });
});

describe('where fetch gives no body to read piece by piece', () => {
  /** An answer as React Native gives it (no `body`), or as node-fetch 2 does (a stream of Node). */
  const answerWith = (body: object | undefined, response: Response) => ({
    status: response.status,
    headers: response.headers,
    body,
    text: () => response.text(),
  });
  const BODIES = { 'React Native': undefined, 'node-fetch 2': { pipe: () => {}, on: () => {} } };

  test.each(Object.entries(BODIES))('as in %s, REST keeps the flags new', async (_, body) => {
    const server = new ScriptedServer();
    // `Response`: such a runtime's answer has no other members, though its types promise them.
    const fetch: Fetch = async (url, init) =>
      answerWith(body, await server.fetch(url, init)) as unknown as Response;
    const { client, platform, codes } = harness({ fetch }, server);
    const ready = client.ready();
    await platform.advance(1);
    expect((await ready).status).toBe('ready');
    expect(client.isEnabled('a')).toBe(true);
    server.flags = { a: { enabled: false } };
    server.revision = 2;
    await platform.advanceUntil(() => !client.isEnabled('a'), RECOVERY_MS);
    expect(new Set(codes())).toEqual(new Set(['stream_error']));
    expect(server.streams.every(({ isCancelled }) => isCancelled)).toBe(true);
  });

  test('an answer that never ends is given up in time', async () => {
    const endless = answerWith(undefined, new Response('x'));
    // `Response`: the client reads only these members where there is no stream.
    const fetch = async () => ({ ...endless, text: () => new Promise(() => {}) }) as unknown as Response;
    const { client, platform, codes } = harness({ fetch, mode: 'poll' });
    void client.ready();
    await platform.advance(46_000);
    expect(codes()).toContain('timeout');
  });
});
