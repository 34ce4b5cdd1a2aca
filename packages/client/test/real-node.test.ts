import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createServer, type Server } from 'node:net';
import {
  type CreatedKey,
  Management,
  type NodeProcess,
  PATIENCE_MS,
  startNode,
  startTcpProxy,
  type TcpProxy,
  until,
  within,
} from '@halyard/testing';
import { createClientOn } from '../src/client.ts';
import {
  type ClientOptions,
  createClient,
  type Fetch,
  type FlagsClient,
  type FlagsError,
} from '../src/index.ts';
import { systemPlatform } from '../src/platform.ts';

let node: NodeProcess;
let management: Management;
let key: CreatedKey;

beforeAll(async () => {
  node = await startNode();
  management = new Management(node);
  await management.createProject('shop');
  key = await management.createKey('shop', ['development', 'production']);
  await management.putState('shop', 'production', 'new-checkout', { enabled: true, value: 'one' });
}, 60_000);
afterAll(async () => {
  await node.stop();
});

/**
 * The real network and, with `hurry`, a clock that runs a hundred times as fast between attempts: a back-off of 30 s
 * takes 300 ms. Time-outs are long enough for a busy machine. Nothing else differs from what an application has.
 */
function client(
  options: Partial<ClientOptions> = {},
  hurry = 1,
): { client: FlagsClient; errors: FlagsError[] } {
  const errors: FlagsError[] = [];
  const platform = {
    ...systemPlatform,
    now: () => performance.now() * hurry,
    setTimer: (callback: () => void, ms: number) => systemPlatform.setTimer(callback, ms / hurry),
  };
  const made = createClientOn(platform, {
    apiKey: key.key,
    environment: 'production',
    baseUrl: node.url,
    onError: (error) => errors.push(error),
    readyTimeoutMs: PATIENCE_MS * hurry,
    requestTimeoutMs: PATIENCE_MS * hurry,
    ...options,
  });
  return { client: made, errors };
}

/** Waits until a client's reads satisfy a condition; `event` says which, in a sentence. */
async function untilClient(made: FlagsClient, event: string, holds: () => boolean): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const check = () => holds() && resolve();
  const stops = [made.onChange(check), made.onStatus(check)];
  check();
  await within(event, promise).finally(() => {
    for (const stop of stops) stop();
  });
}

describe('against a real node', () => {
  test('a change of the management API is read on the next tick of the stream', async () => {
    const { client: made, errors } = client();
    expect(await made.ready()).toEqual({ status: 'ready' });
    expect(made.getValue('new-checkout', '')).toBe('one');
    const written = await management.putState('shop', 'production', 'new-checkout', {
      enabled: true,
      value: 'two',
    });
    await untilClient(
      made,
      'the client reads the newest flags',
      () => made.getValue('new-checkout', '') === 'two',
    );
    expect(made.revision).toBe(written.environmentRevision);
    expect(errors).toEqual([]);
    await made.close();
  });

  test('polling and refreshing work with the node’s tags', async () => {
    const { client: made } = client({ mode: 'manual' });
    expect((await made.ready()).status).toBe('ready');
    expect(await made.refresh()).toBe(true);
    await management.putState('shop', 'production', 'polled', { enabled: true });
    expect(await made.refresh()).toBe(true);
    expect(made.isEnabled('polled')).toBe(true);
    await made.close();
  });

  test('one client reads one environment', async () => {
    const { client: made } = client({ environment: 'development' });
    expect((await made.ready()).status).toBe('ready');
    expect(made.isEnabled('new-checkout')).toBe(false);
    await made.close();
  });

  test.each([
    [{ apiKey: `proj_live_${'x'.repeat(49)}` }, 'invalid_api_key', 401],
    [{ environment: 'staging' }, 'environment_not_found', 404],
    [{ environment: 'nowhere' }, 'environment_not_found', 404],
  ])('%j is refused with the specified code and its page', async (options, code, status) => {
    const { client: made, errors } = client(options);
    expect(await made.ready()).toMatchObject({ status: 'failed', error: { code, status } });
    expect(errors[0]?.docs).toBe(`${node.url}/docs/errors/${code}`);
    await made.close();
  });

  test('a revoked key ends the stream and keeps the flags', async () => {
    const own = await management.createKey('shop', ['production']);
    const { client: made, errors } = client({ apiKey: own.key });
    await made.ready();
    await management.revokeKey(own.id);
    await until('the client reports that its key is revoked', () =>
      errors.some(({ code }) => code === 'invalid_api_key'),
    );
    expect(made.isEnabled('new-checkout')).toBe(true);
    await made.close();
  });

  test('twenty clients of one process open one stream', async () => {
    let opened = 0;
    const counted: Fetch = (url, init) => {
      if (url.includes('/v1/stream')) opened++;
      return fetch(url, init);
    };
    const all = Array.from({ length: 20 }, () =>
      createClient({ apiKey: key.key, environment: 'production', baseUrl: node.url, fetch: counted }),
    );
    await Promise.all(all.map((each) => each.ready()));
    expect(opened).toBe(1);
    await Promise.all(all.map((each) => each.close()));
  });
});

describe('over a failing network', () => {
  let proxy: TcpProxy;
  beforeAll(async () => {
    proxy = await startTcpProxy({ port: Number(new URL(node.url).port) });
  });
  afterAll(async () => {
    await proxy.close();
  });

  /** Two seconds for an answer: a busy machine needs some of that, and a connection that hangs is given up. */
  const behindProxy = () => ({ baseUrl: `http://127.0.0.1:${proxy.port}`, requestTimeoutMs: 200_000 });

  test.each(['reset', 'refuse', 'blackhole', 'dropAfter'] as const)(
    'a connection lost by %s is restored, with the changes made in between',
    async (fault) => {
      const { client: made } = client(behindProxy(), 100);
      await made.ready();
      if (fault === 'dropAfter') proxy.dropAfter(40);
      else proxy[fault]();
      const value = `after ${fault}`;
      await management.putState('shop', 'production', 'new-checkout', { enabled: true, value });
      await Bun.sleep(100); // the fault lasts ten seconds of the client’s time
      if (fault === 'blackhole') proxy.reset();
      proxy.restore();
      await untilClient(
        made,
        'the client reads the newest flags',
        () => made.getValue('new-checkout', '') === value && made.status === 'ready',
      );
      await made.close();
    },
    60_000,
  );

  test('a node that restarts on the same data is found again', async () => {
    const { client: made } = client(behindProxy(), 100);
    await made.ready();
    proxy.refuse();
    await untilClient(made, 'the client says that its flags are stale', () => made.status === 'stale');
    expect(made.isEnabled('new-checkout')).toBe(true);
    proxy.restore();
    await untilClient(made, 'the client is ready again', () => made.status === 'ready');
    await made.close();
  }, 60_000);
});

test('a client beyond the streams that a node allows for its key reads its flags by REST', async () => {
  const full = await startNode({ arguments: ['--max-streams-per-key', '1'] });
  try {
    const owner = new Management(full);
    await owner.createProject('shop');
    const { key: apiKey } = await owner.createKey('shop', ['production']);
    await owner.putState('shop', 'production', 'new-checkout', { enabled: true });
    const options = { apiKey, baseUrl: full.url };
    const first = client(options);
    expect((await first.client.ready()).status).toBe('ready');
    // Other headers, so that they do not share a stream. Its clock is slow: `Retry-After` of the stream never passes.
    const second = client({ ...options, headers: { 'X-Process': '2' } }, 0.01);
    expect((await second.client.ready()).status).toBe('ready');
    expect(second.client.isEnabled('new-checkout')).toBe(true);
    expect(second.errors.map(({ code }) => code)).toEqual(['rate_limited']);
    await Promise.all([first.client.close(), second.client.close()]);
  } finally {
    await full.stop();
  }
}, 60_000);

describe('an address where nothing good is', () => {
  let silent: Server;
  let port: number;
  beforeAll(async () => {
    silent = createServer((socket) => {
      socket.on('error', () => socket.destroy());
    });
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });
  afterAll(() => {
    silent.close();
  });

  test.each([
    ['nothing listens', () => 'http://127.0.0.1:1', 'network_error'],
    ['the name does not resolve', () => 'https://no-such-host.invalid', 'network_error'],
    ['the server does not speak TLS', () => node.url.replace('http:', 'https:'), 'network_error'],
    ['the server never answers', () => `http://127.0.0.1:${port}`, 'timeout'],
    ['something else answers', () => `${node.url}/docs`, undefined],
  ])(
    '%s: ready() resolves, reads answer, the error says what',
    async (_, baseUrl, code) => {
      // Half a second, where an answer never comes.
      const limits = code === 'timeout' ? { requestTimeoutMs: 10_000 } : {};
      const { client: made, errors } = client({ baseUrl: baseUrl(), ...limits }, 20);
      const result = await made.ready();
      expect(result.status).toBe('failed');
      if (code) expect(result.error?.code).toBe(code);
      expect(made.isEnabled('new-checkout')).toBe(false);
      expect(made.getValue('new-checkout', 'x')).toBe('x');
      expect(errors.length).toBeGreaterThan(0);
      await made.close();
    },
    60_000,
  );

  test('a redirect is not followed, and its target never sees the key', async () => {
    const seen: (string | null)[] = [];
    const target = Bun.serve({
      port: 0,
      fetch: (request) => {
        seen.push(request.headers.get('X-Service-Key'));
        return Response.json({ environment: 'production', flags: { a: { enabled: true } } });
      },
    });
    const redirecting = Bun.serve({
      port: 0,
      fetch: ({ url }) => Response.redirect(`${target.url.origin}${new URL(url).pathname}`, 307),
    });
    const { client: made, errors } = client({ baseUrl: redirecting.url.origin });
    expect((await made.ready()).status).toBe('failed');
    expect(errors.length).toBeGreaterThan(0);
    expect(seen).toEqual([]);
    await made.close();
    await Promise.all([target.stop(true), redirecting.stop(true)]);
  });
});
