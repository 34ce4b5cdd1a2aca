import { describe, expect, test } from 'bun:test';
import { settle } from './support/fake-platform.ts';
import { harness, TEST_KEY } from './support/harness.ts';

describe('clients of one process', () => {
  test('share one connection when key, environment and address are the same', async () => {
    const { client, another, server } = harness();
    const others = Array.from({ length: 20 }, () => another());
    await Promise.all([client, ...others].map((each) => each.ready()));
    expect(server.streams).toHaveLength(1);
    server.change({ a: { enabled: true, value: 2 } });
    await settle();
    for (const each of others) expect(each.getValue('a', 0)).toBe(2);
    expect(others[0]?.all()).toBe(client.all());
  });

  test('share it also when they differ in what is their own', async () => {
    const { client, another, server } = harness();
    const other = another({ readyTimeoutMs: 1, targetingKey: 'ana', bootstrap: {}, logger: false });
    await Promise.all([client.ready(), other.ready()]);
    expect(server.streams).toHaveLength(1);
  });

  test('each keeps its own targeting key, listeners and onError', async () => {
    const mine: string[] = [];
    const { client, another, server, errors } = harness();
    const other = another({ onError: ({ code }) => mine.push(code), targetingKey: 'user-3' });
    server.flags = {
      'new-checkout': { enabled: true, rolloutPct: 51.93 },
      text: { enabled: true, value: 'x' },
    };
    await Promise.all([client.ready(), other.ready()]);
    expect(client.isEnabled('new-checkout', { targetingKey: 'user-1' })).toBe(true);
    expect(other.isEnabled('new-checkout')).toBe(false);
    other.getValue('text', 1);
    expect(mine).toEqual(['type_mismatch']);
    expect(errors).toEqual([]);
    server.latest.break();
    await settle();
    expect(mine).toEqual(['type_mismatch', 'stream_error']);
    expect(errors.map(({ code }) => code)).toEqual(['stream_error']);
  });

  test('the connection lives until the last one is closed', async () => {
    const { client, another, server, platform } = harness();
    const other = another();
    await Promise.all([client.ready(), other.ready()]);
    await client.close();
    await client.close();
    server.change({ a: { enabled: false } });
    await settle();
    expect(other.isEnabled('a')).toBe(false);
    expect(client.isEnabled('a')).toBe(true);
    await other.close();
    await settle();
    expect(server.latest.isCancelled).toBe(true);
    expect(platform.pending).toBe(0);
    const again = another();
    await again.ready();
    expect(server.streams).toHaveLength(2);
  });

  test('a client that joins late has the flags at once', async () => {
    const { client, another } = harness();
    await client.ready();
    const late = another();
    const changes: string[][] = [];
    late.onChange(({ changed }) => changes.push([...changed]));
    expect(late.isEnabled('a')).toBe(true);
    expect(late.status).toBe('ready');
    expect(await late.ready()).toEqual({ status: 'ready' });
  });

  test.each([
    { apiKey: `${TEST_KEY}x` },
    { environment: 'staging' },
    { baseUrl: 'https://other.example' },
    { mode: 'poll' as const },
    { headers: { 'X-Other': '1' } },
    { requestTimeoutMs: 1_000 },
    { pollIntervalMs: 60_000 },
    { staleAfterMs: 1_000 },
  ])('do not share with a client that differs in %j', async (options) => {
    const { client, another, server } = harness();
    server.onRest = () => Response.json({ flags: server.flags });
    await client.ready();
    const before = server.requests.length;
    await another(options).ready();
    expect(server.requests.length).toBeGreaterThan(before);
  });

  test('manual clients never share, so that no request waits for another request’s', async () => {
    const { client, another, server } = harness({ mode: 'manual' });
    await Promise.all([client.ready(), another().ready()]);
    expect(server.count('/v1/flags')).toBe(2);
  });
});

describe('close', () => {
  test('leaves no timer, no stream and no listener behind, at every moment', async () => {
    for (const moment of [0, 1, 500, 1_500, 6_000, 40_000]) {
      for (const isDown of [true, false]) {
        const { client, server, platform } = harness();
        if (isDown) server.fail();
        void client.ready();
        await platform.advance(moment);
        await client.close();
        await settle();
        expect(platform.pending).toBe(0);
        expect(server.streams.every(({ isCancelled }) => isCancelled)).toBe(true);
        const asked = server.requests.length;
        await platform.advance(600_000);
        expect(server.requests.length).toBe(asked);
      }
    }
  });

  test('lets go of the signals that listeners were added with', async () => {
    const { client } = harness();
    const held = new Set<unknown>();
    const signal = {
      aborted: false,
      addEventListener: (_: string, listener: unknown) => held.add(listener),
      removeEventListener: (_: string, listener: unknown) => held.delete(listener),
      // `AbortSignal`: the client uses these three members, and a real one does not say who listens.
    } as unknown as AbortSignal;
    client.onChange(() => {}, { signal });
    client.onStatus(() => {}, { signal });
    expect(held.size).toBe(2);
    await client.close();
    expect(held.size).toBe(0);
  });

  test('ends a wait for ready(), which says so', async () => {
    const { client, server } = harness();
    server.onStream = () => new Promise(() => {}); // not even an abort is heard
    const ready = client.ready();
    await client.close();
    expect(await ready).toMatchObject({ status: 'failed', error: { code: 'client_closed' } });
    expect((await client.ready()).error?.code).toBe('client_closed');
    expect(await client.refresh()).toBe(false);
  });

  test('reads go on answering', async () => {
    const { client } = harness();
    await client.ready();
    await client.close();
    expect(client.status).toBe('closed');
    expect(client.getValue('a', 0)).toBe(1);
    expect(client.evaluate('a', 0)).toMatchObject({ value: 1, stale: true });
    expect(client.toBootstrap().flags.a?.value).toBe(1);
    expect(() => client.onChange(() => {})()).not.toThrow();
  });

  test('await using closes', async () => {
    const { another, server } = harness();
    {
      await using client = another();
      await client.ready();
    }
    await settle();
    expect(server.latest.isCancelled).toBe(true);
  });

  test('a client that was closed before its first use never works', async () => {
    const { client, server, platform } = harness();
    await client.close();
    client.isEnabled('a');
    client.onChange(() => {});
    expect((await client.ready()).status).toBe('failed');
    await platform.advance(1_000);
    expect(server.requests).toHaveLength(0);
  });
});

describe('ready', () => {
  test('gives up waiting after its time, or when its signal is aborted, and the client goes on', async () => {
    const { client, server, platform } = harness();
    let open: (() => void) | undefined;
    server.onStream = (request) =>
      new Promise((resolve) => {
        open = () => resolve(server.stream(request));
      });
    server.onRest = () => new Promise(() => {});
    const short = client.ready({ timeoutMs: 100 });
    await platform.advance(100);
    expect(await short).toMatchObject({ status: 'timeout', error: { code: 'timeout' } });
    const controller = new AbortController();
    const aborted = client.ready({ signal: controller.signal });
    await settle();
    controller.abort();
    expect((await aborted).status).toBe('timeout');
    expect((await client.ready({ signal: AbortSignal.abort() })).status).toBe('timeout');
    open?.();
    expect((await client.ready()).status).toBe('ready');
  });

  test('takes any argument', async () => {
    const { client } = harness();
    for (const argument of [null, 1, 'x', { timeoutMs: 'x' }, { timeoutMs: Number.NaN }, { signal: {} }])
      expect((await client.ready(argument as never)).status).toBe('ready');
  });

  test('a bootstrap answers at once; the first load replaces it', async () => {
    const { client, server } = harness({
      bootstrap: {
        environment: 'production',
        flags: { a: { enabled: true, value: 0 }, b: { enabled: true } },
      },
    });
    const changes: string[][] = [];
    expect(client.isEnabled('b')).toBe(true);
    client.onChange(({ changed }) => changes.push([...changed]));
    expect(client.status).toBe('stale');
    expect((await client.ready()).status).toBe('bootstrapped');
    await settle();
    expect(client.getValue('a', 0)).toBe(1);
    expect(client.isEnabled('b')).toBe(false);
    expect(client.isEnabled('b', { from: 'bootstrap' })).toBe(true);
    expect(client.evaluate('b', false, { from: 'bootstrap' }).stale).toBe(true);
    expect(client.evaluate('a', 0).stale).toBe(false);
    expect(changes).toEqual([['a', 'b']]);
    expect((await client.ready()).status).toBe('ready');
    expect(server.streams).toHaveLength(1);
  });

  test('a bootstrap outlives a failed load', async () => {
    const { client, server, platform } = harness({ bootstrap: { b: { enabled: true } } });
    server.fail();
    expect((await client.ready()).status).toBe('bootstrapped');
    await platform.advance(60_000);
    expect(client.isEnabled('b')).toBe(true);
    expect(client.status).toBe('stale');
  });

  test.each([
    null,
    7,
    [],
    'x',
    { environment: 'staging', flags: { b: { enabled: true } } },
    { b: 1 },
    (() => {
      const cyclic: Record<string, unknown> = {};
      cyclic.self = cyclic;
      return cyclic;
    })(),
    {
      get b() {
        throw new Error('no');
      },
    },
    { b: { enabled: true, value: 10n } },
  ])('an invalid bootstrap is ignored', async (bootstrap) => {
    const { client } = harness({ bootstrap: bootstrap as never });
    expect(client.isEnabled('b')).toBe(false);
    expect((await client.ready()).status).toBe('ready');
    expect(client.isEnabled('a')).toBe(true);
  });
});
