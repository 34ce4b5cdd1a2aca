import { describe, expect, test } from 'bun:test';
import { inspect } from 'node:util';
import { createClient, createClientOn } from '../src/client.ts';
import type { FlagsError } from '../src/errors.ts';
import type { ClientOptions } from '../src/index.ts';
import { FakePlatform, settle } from './support/fake-platform.ts';
import { harness, TEST_KEY } from './support/harness.ts';
import { errorAnswer, ScriptedServer } from './support/scripted-server.ts';

describe('the key', () => {
  test('goes into its header, and nowhere else', async () => {
    const { client, server } = harness();
    await client.ready();
    await client.refresh();
    for (const { url, headers, init } of server.requests) {
      expect(headers.get('X-Service-Key')).toBe(TEST_KEY);
      expect(headers.has('Authorization')).toBe(false);
      expect(url.href).not.toContain(TEST_KEY);
      expect(init.redirect).toBe('manual');
      expect(init.cache).toBe('no-store');
    }
  });

  test('shows in no error, log, inspection or serialisation, whatever the server and the network say', async () => {
    const lines: string[] = [];
    const logger = { warn: (line: string) => lines.push(line) };
    const causes = [
      () => errorAnswer(500, `internal_error`, { 'X-Echo': TEST_KEY }),
      () =>
        Response.json(
          { error: 'internal_error', message: `bad ${TEST_KEY}`, docs: `https://x/${TEST_KEY}` },
          { status: 500 },
        ),
      // Cut in the middle of the key, should the message be cut before the key is taken out.
      () => Response.json({ message: `${'.'.repeat(480)}${TEST_KEY}` }, { status: 500 }),
      () => {
        throw new TypeError(`invalid header value ${TEST_KEY}`);
      },
      () => {
        throw TEST_KEY;
      },
      () =>
        new Response(`data: {"${TEST_KEY}": 1}\n\n`, { headers: { 'Content-Type': 'text/event-stream' } }),
    ];
    const errors: FlagsError[] = [];
    for (const cause of causes) {
      for (const onError of [undefined, (error: FlagsError) => errors.push(error)]) {
        const { client, server, platform } = harness({ onError, logger } as Partial<ClientOptions>);
        server.fail(cause);
        void client.ready();
        await platform.advance(10_000);
        const shown = inspect(client, { depth: 9, showHidden: true }) + JSON.stringify(client);
        expect(shown).not.toContain(TEST_KEY);
        await client.close();
      }
    }
    expect(errors.length).toBeGreaterThan(5);
    for (const error of errors) {
      const text = inspect(error, { depth: 9, showHidden: true }) + JSON.stringify(error) + error.stack;
      expect(text).not.toContain(TEST_KEY.slice(0, 12));
    }
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join()).not.toContain(TEST_KEY);
  });

  /** How wrappers of `fetch` keep the request on the errors that they throw. */
  const WRAPPED: Readonly<Record<string, (init: RequestInit) => Error>> = {
    'as ofetch, ky and got do': (options) => Object.assign(new Error('no'), { options }),
    'as axios does': ({ headers }) =>
      Object.assign(new Error('no'), {
        config: { headers: Object.fromEntries(headers as Headers) },
        request: { getHeaders: () => headers },
      }),
    'in a cause of a cause': (init) =>
      new Error('no', { cause: new Error('nested', { cause: { init, key: TEST_KEY } }) }),
    'in one of several errors': (init) => new AggregateError([Object.assign(new Error('x'), { init })], 'no'),
    'in its name and its code': () => Object.assign(new Error('no'), { name: TEST_KEY, code: TEST_KEY }),
  };
  test.each(Object.keys(WRAPPED))('shows in no error of a fetch that keeps it %s', async (name) => {
    const { client, errors } = harness({
      mode: 'manual',
      // The headers are printed with their values, as those of Node are.
      fetch: async (_, init) => {
        const headers = Object.assign(new Headers(init.headers), { 'x-service-key': TEST_KEY });
        throw WRAPPED[name]?.({ ...init, headers });
      },
    });
    const { error } = await client.ready();
    for (const each of [error, ...errors]) {
      expect(each?.message).toStartWith('no (');
      expect(each?.cause).toHaveProperty('message', 'no');
      expect(inspect(each, { depth: 99, showHidden: true })).not.toContain(TEST_KEY);
    }
  });

  test.each([
    'http://flags.example',
    'http://10.0.0.1:7070',
    'http://localhost.evil.example',
    'http://127.0.0.1.evil.example',
    'ftp://flags.example',
    'javascript:alert(1)',
    'https://user:pass@flags.example',
    'https://flags.example/?x=1',
    'not an address',
    '',
  ])('is not sent to %s', async (baseUrl) => {
    const { client, server, platform, errors } = harness({ baseUrl });
    const ready = client.ready();
    await platform.advance(60_000);
    expect(await ready).toMatchObject({
      status: 'failed',
      error: { code: 'invalid_options', retryable: false },
    });
    expect(errors).toHaveLength(1);
    expect(server.requests).toHaveLength(0);
    expect(client.getValue('a', 5)).toBe(5);
  });

  test('an environment that no address can hold is refused at once', async () => {
    const { client, server } = harness({ environment: 'a\ud800' });
    expect((await client.ready()).error?.code).toBe('invalid_options');
    expect(server.requests).toHaveLength(0);
  });

  test.each([
    { baseUrl: 'http://localhost:7070' },
    { baseUrl: 'http://127.0.0.1:1/' },
    { baseUrl: 'http://[::1]:7070' },
    { baseUrl: 'http://flags.localhost' },
    { baseUrl: new URL('https://flags.example/below/') },
    { baseUrl: 'https://cdn.example/@scope/below/' },
    { baseUrl: 'http://flags.internal', allowInsecureHttp: true },
    { baseUrl: 'http://flags.internal', apiKey: false as const },
  ])('may go to %j', async (options) => {
    const { client, server } = harness(options);
    expect((await client.ready()).status).toBe('ready');
    expect(server.requests[0]?.url.href).toMatch(
      /[a-z0-9\]]\/(below\/)?v1\/stream\?changes=1&env=production$/,
    );
  });

  test('without a key none is sent', async () => {
    const { client, server } = harness({ apiKey: false });
    await client.ready();
    expect(server.requests[0]?.headers.has('X-Service-Key')).toBe(false);
  });

  test('the line break a file adds is not part of it', async () => {
    const { client, server } = harness({ apiKey: `${TEST_KEY}\n` });
    await client.ready();
    expect(server.requests[0]?.headers.get('X-Service-Key')).toBe(TEST_KEY);
  });

  test('in a runtime that refuses the setting of the cache, nothing is said of it', async () => {
    Object.defineProperty(globalThis, 'WebSocketPair', { value: class {}, configurable: true });
    try {
      const { client, server, platform } = harness();
      server.fail(() => new Response(null, { status: 302, headers: { Location: 'https://evil.example/' } }));
      const ready = client.ready();
      await platform.advance(10);
      expect((await ready).error?.code).toBe('invalid_response');
      for (const { init } of server.requests) {
        expect(init.redirect).toBe('manual');
        expect(init).not.toHaveProperty('cache');
      }
    } finally {
      Reflect.deleteProperty(globalThis, 'WebSocketPair');
    }
  });

  test('a key in a page is pointed out', async () => {
    const lines: string[] = [];
    Object.assign(globalThis, { document: {} });
    try {
      const { client } = harness({ logger: { warn: (line) => lines.push(line) } });
      await client.ready();
    } finally {
      Reflect.deleteProperty(globalThis, 'document');
    }
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('secret');
  });
});

describe('hostile options', () => {
  const throwing = new Proxy(
    {},
    {
      get() {
        throw new Error('no');
      },
      ownKeys() {
        throw new Error('no');
      },
    },
  );
  const good = { apiKey: TEST_KEY, environment: 'production', baseUrl: 'https://flags.example' };
  const HOSTILE: Readonly<Record<string, unknown>> = {
    undefined: undefined,
    null: null,
    'a number': 42,
    'a string': 'x',
    'an array': [],
    'a symbol': Symbol('x'),
    'a function': () => 1,
    'an empty object': {},
    'a proxy that throws': throwing,
    'a getter that throws': {
      ...good,
      get apiKey() {
        throw new Error('no');
      },
    },
    'no key': { ...good, apiKey: undefined },
    'an empty key': { ...good, apiKey: '' },
    'a key with a line break inside': { ...good, apiKey: 'proj_live_a\nX-Evil: 1' },
    'a key with an emoji': { ...good, apiKey: 'proj_live_😀' },
    'a key with NUL': { ...good, apiKey: 'proj_live_\0' },
    'a key that is an object': { ...good, apiKey: throwing },
    'no environment': { ...good, environment: undefined },
    'an environment that is an object': { ...good, environment: {} },
    'an address that throws when read': {
      ...good,
      baseUrl: {
        toString() {
          throw new Error('no');
        },
      },
    },
    'an unknown mode': { ...good, mode: 'push' },
    'headers that are none': { ...good, headers: { 'bad name': 'x', v: `secret\n` } },
    'headers as a number': { ...good, headers: 5 },
  };

  test.each(Object.keys(HOSTILE))(
    '%s: nothing throws, ready() resolves, reads give defaults',
    async (name) => {
      const server = new ScriptedServer();
      server.fail();
      const platform = new FakePlatform(server.fetch);
      const given = HOSTILE[name];
      const options = (
        typeof given === 'object' && given !== null && name !== 'a proxy that throws'
          ? Object.defineProperties({ logger: false }, Object.getOwnPropertyDescriptors(given))
          : given
      ) as ClientOptions; // whatever it is
      const client = createClientOn(platform, options);
      expect(client.isEnabled('a')).toBe(false);
      expect(client.getValue('a', 'x')).toBe('x');
      const ready = client.ready();
      await platform.advance(6_000);
      expect((await ready).status).toBe('failed');
      expect(client.all()).toEqual({});
      expect(() => client.onChange(null as never)()).not.toThrow();
      await client.close();
      await settle();
      expect(platform.pending).toBe(0);
    },
  );

  test('times that are none are replaced by sensible ones', async () => {
    for (const value of [Number.NaN, -1, 'x', null, {}, 10n]) {
      const bad = value as never;
      const { client, platform, server } = harness({
        requestTimeoutMs: bad,
        readyTimeoutMs: bad,
        pollIntervalMs: bad,
        staleAfterMs: bad,
        targetingKey: bad,
        onError: bad,
        onChange: bad,
        fetch: bad,
        logger: false,
      });
      expect((await client.ready()).status).toBe('ready');
      server.fail();
      await platform.advance(60_000);
      expect(client.isEnabled('a')).toBe(true);
    }
    const { client, platform, server } = harness({ readyTimeoutMs: Infinity, requestTimeoutMs: Infinity });
    server.fail();
    void client.ready();
    await platform.advance(10);
    expect(client.status).toBe('failed');
  });

  test('a logger that is invalid or throws does no harm', async () => {
    for (const logger of [
      5,
      {},
      {
        warn() {
          throw new Error('no');
        },
      },
      { warn: 1 },
    ]) {
      const server = new ScriptedServer();
      server.fail();
      const platform = new FakePlatform(server.fetch);
      const client = createClientOn(platform, {
        apiKey: TEST_KEY,
        environment: 'e',
        logger: logger as never,
      });
      void client.ready();
      await platform.advance(100);
      expect(client.status).toBe('failed');
      await client.close();
    }
  });
});

describe('without onError', () => {
  test('each kind of failure is logged at most once a minute, with its page', async () => {
    const lines: string[] = [];
    const server = new ScriptedServer();
    const platform = new FakePlatform(server.fetch);
    const client = createClientOn(platform, {
      apiKey: TEST_KEY,
      environment: 'production',
      baseUrl: 'https://flags.example',
      logger: { warn: (line) => lines.push(line) },
    });
    server.fail(() => errorAnswer(500, 'internal_error'));
    void client.ready();
    await platform.advance(50_000);
    expect(lines).toEqual([
      '[halyard] internal_error: it is internal_error (https://docs.example/errors/internal_error)',
    ]);
    await platform.advance(10 * 60_000);
    expect(lines.length).toBeLessThanOrEqual(11);
    await client.close();
  });
});

test('construction does nothing: no request, timer or random number', () => {
  const forbidden = () => {
    throw new Error('not now');
  };
  const platform = {
    now: forbidden,
    wallClock: forbidden,
    random: forbidden,
    setTimer: forbidden,
    fetch: forbidden,
  };
  const client = createClientOn(platform, {
    apiKey: TEST_KEY,
    environment: 'production',
    bootstrap: { a: { enabled: true } },
  });
  expect(client.environment).toBe('production');
  expect(client.status).toBe('stale');
  const real = createClient({ apiKey: TEST_KEY, environment: 'production' });
  expect(real.status).toBe('connecting');
});
