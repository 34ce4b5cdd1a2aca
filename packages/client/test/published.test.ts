import { afterEach, describe, expect, test } from 'bun:test';
import type { ClientStatus, FlagsClient, FlagsError } from '../src/index.ts';
import {
  createClientWithFallbackOn,
  createPublishedClientOn,
  type FallbackOptions,
  type PublishedOptions,
} from '../src/published/client.ts';
import { FakePlatform, settle } from './support/fake-platform.ts';
import { recovered, TEST_KEY } from './support/harness.ts';
import { ScriptedFiles } from './support/scripted-files.ts';
import { blackHole, errorAnswer, ScriptedServer } from './support/scripted-server.ts';

const FOLDER = 'https://cdn.example/halyard/shop/production';

const open: FlagsClient[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
});

/** What a client reported, in order. */
function recorder() {
  const errors: FlagsError[] = [];
  return {
    errors,
    onError: (error: FlagsError) => errors.push(error),
    codes: () => errors.map(({ code }) => code),
  };
}

function published(options: Partial<PublishedOptions> = {}, files = new ScriptedFiles()) {
  const platform = new FakePlatform(files.fetch);
  files.platform = platform;
  if (files.files.size === 0) files.publish();
  const { onError, codes } = recorder();
  const client = createPublishedClientOn(platform, {
    baseUrl: FOLDER,
    onError,
    pollIntervalMs: 1_000,
    ...options,
  });
  open.push(client);
  return { client, platform, files, codes };
}

describe('a published environment', () => {
  test('is read with its address alone; a pointer that is the same costs nothing more (S18.5)', async () => {
    const { client, platform, files, codes } = published();
    const heard: unknown[] = [];
    expect(client.environment).toBe('production');
    expect(client.ageMs).toBeUndefined();
    client.onChange(({ changed, revision }) => heard.push([changed, revision]));
    expect(await client.ready()).toEqual({ status: 'ready' });
    expect(client.evaluate('a', 0)).toMatchObject({ value: 1, stale: false });
    expect(client.revision).toBe(1);
    const [first, second] = files.requests;
    expect([first?.url, second?.url]).toEqual([
      `${FOLDER}/pointer.json`,
      expect.stringMatching(/\/1-\w+\.json$/),
    ]);
    expect([...(first?.headers ?? []), ...(second?.headers ?? [])]).toEqual([]);

    await platform.advance(5_000);
    expect(files.requests.length - files.count('pointer.json')).toBe(1);
    expect(files.requests.at(-1)?.headers.get('If-None-Match')).toBeTruthy();
    expect(client.ageMs).toBe(5_000);

    files.publish({ a: { enabled: false }, b: { enabled: true } }, 2);
    await platform.advance(1_100);
    expect([client.isEnabled('a'), client.isEnabled('b'), client.revision]).toEqual([false, true, 2]);
    expect(heard.at(-1)).toEqual([['a', 'b'], 2]);
    expect(codes()).toEqual([]);
  });

  test('gets no key and no header, whatever the options say', async () => {
    const secret = {
      apiKey: TEST_KEY,
      headers: { Authorization: TEST_KEY },
      mode: 'stream',
      reportUsage: true,
    };
    const { client, files } = published(secret as Partial<PublishedOptions>);
    expect((await client.ready()).status).toBe('ready');
    expect(
      JSON.stringify(files.requests.map(({ url, init, headers }) => [url, init, [...headers]])),
    ).not.toContain(TEST_KEY);
  });

  test('never goes back to what a cache has kept', async () => {
    const { client, platform, files } = published();
    files.publish({ old: { enabled: true } }, 7, 5_000);
    const lagging = files.files.get('pointer.json') ?? '';
    files.publish({ a: { enabled: true, value: 8 } }, 8, 1_000);
    await client.ready();
    const loads = files.requests.length;
    files.interfere = ({ name }) => (name === 'pointer.json' ? new Response(lagging) : undefined);
    await platform.advance(100_000);
    expect([client.revision, client.status]).toEqual([8, 'stale']);
    expect(files.requests.length - loads).toBe(files.count('pointer.json') - 1);

    // An environment of that name that was deleted had more revisions.
    files.interfere = () => undefined;
    files.environmentId = 'environment-1';
    files.publish({ old: { enabled: true } }, 900);
    await platform.advance(10_000);
    expect(client.revision).toBe(8);
    files.environmentId = 'environment-2';
    files.publish({ a: { enabled: true, value: 9 } }, 9);
    await platform.advance(1_100);
    expect([client.getValue('a', 0), client.status]).toEqual([9, 'ready']);
  });

  test('a history that was restored is believed after a minute', async () => {
    const { client, platform, files, codes } = published();
    files.publish({ a: { enabled: true, value: 50 } }, 50);
    await client.ready();
    await platform.advance(10_000);
    files.publish({ a: { enabled: true, value: 3 } }, 3);
    const [loads, polls] = [files.requests.length, files.count('pointer.json')];
    await platform.advance(50_000);
    expect([client.getValue('a', 0), client.ageMs]).toEqual([50, 60_000]);
    await platform.advance(15_000);
    expect([client.getValue('a', 0), client.revision, client.status]).toEqual([3, 3, 'ready']);
    expect(codes()).toEqual(['revision_reset']);
    // The object was kept while it waited.
    expect(files.requests.length - loads - (files.count('pointer.json') - polls)).toBe(1);
  });

  test('is stale when a node has not confirmed it, and says its true age', async () => {
    const { client, platform, files, codes } = published();
    const statuses: ClientStatus[] = [];
    client.onStatus((status) => statuses.push(status));
    await client.ready();
    await platform.advance(90_900);
    expect(client.status).toBe('ready');
    await platform.advance(200);
    expect([client.status, client.isEnabled('a'), codes().length]).toEqual(['stale', true, 0]);
    await platform.advance(3_600_000);
    expect(client.ageMs).toBe(3_691_100);
    files.publish();
    await platform.advance(1_100);
    expect(client.status).toBe('ready');
    expect(statuses).toEqual(['ready', 'stale', 'ready']);
  });

  test('has the age of the flags at hand, also while newer ones cannot be loaded', async () => {
    const { client, platform, files } = published();
    await client.ready();
    await platform.advance(5_000);
    files.interfere = ({ name }) => (name.startsWith('2-') ? new Response('', { status: 503 }) : undefined);
    const before = files.files.get('pointer.json') ?? '';
    files.publish({ a: { enabled: true, value: 2 } }, 2);
    await platform.advance(5_000);
    expect([client.getValue('a', 0), client.ageMs]).toEqual([1, 10_000]);
    // Nor does a cache that is behind make them look newer.
    files.interfere = ({ name }) => (name === 'pointer.json' ? new Response(before) : undefined);
    await platform.advance(2_000);
    expect([client.getValue('a', 0), client.revision, client.ageMs]).toEqual([1, 1, 12_000]);
    files.interfere = () => undefined;
    await platform.advance(3_000);
    expect([client.getValue('a', 0), client.revision, client.ageMs]).toEqual([2, 2, 10_000]);
  });

  test('that has not been confirmed for long is stale from the start', async () => {
    const files = new ScriptedFiles();
    files.publish(files.flags, 1, 600_000);
    const { client, platform } = published({}, files);
    await client.ready();
    await platform.advance(1);
    expect([client.isEnabled('a'), client.status, client.ageMs]).toEqual([true, 'stale', 600_001]);
  });

  test('has the age that the caches tell, where the clock of the reader is wrong', async () => {
    const { client, platform, files } = published();
    const right = platform.wallClock();
    platform.wallClockStart += 3_600_000;
    files.headers = { Date: new Date(right - 20_000).toUTCString(), Age: '20' };
    await client.ready();
    expect([client.ageMs, client.status]).toEqual([0, 'ready']);

    // A clock that is behind cannot hide how long the same note has been there.
    files.headers = {};
    platform.wallClockStart -= 7_200_000;
    await platform.advance(95_000);
    expect([client.ageMs, client.status]).toEqual([95_000, 'stale']);
  });

  test('whose object was removed in between: the pointer is read again', async () => {
    const { client, platform, files, codes } = published();
    const before = files.files.get('pointer.json') ?? '';
    files.files.clear();
    files.publish({ a: { enabled: true, value: 2 } }, 2);
    files.interfere = ({ name }) =>
      name === 'pointer.json' && files.count(name) === 1 ? new Response(before) : undefined;
    await client.ready();
    expect([client.getValue('a', 0), codes()]).toEqual([2, []]);

    for (const name of files.files.keys()) if (name !== 'pointer.json') files.files.delete(name);
    files.files.set('pointer.json', (files.files.get('pointer.json') ?? '').replace('"2-', '"3-'));
    await platform.advance(1_100);
    expect([client.getValue('a', 0), codes()[0]]).toEqual([2, 'invalid_response']);
  });

  test('that is withdrawn keeps its flags here, and is asked for less often', async () => {
    const { client, platform, files, codes } = published();
    await client.ready();
    files.files.clear();
    await platform.advance(95_000);
    expect([client.isEnabled('a'), client.status, new Set(codes())]).toEqual([
      true,
      'stale',
      new Set(['environment_not_found']),
    ]);
    const before = files.requests.length;
    await platform.advance(600_000);
    expect(files.requests.length - before).toBeLessThan(8);
    files.publish({ a: { enabled: true, value: 2 } }, 2);
    await platform.advanceUntil(() => client.getValue('a', 0) === 2, 300_000);
  });

  test('reports a storage that is away, asks on, and refuses what is no pointer', async () => {
    const { client, platform, files, codes } = published();
    files.interfere = () => new Response('slow down', { status: 503, headers: { 'Retry-After': '5' } });
    expect((await client.ready()).status).toBe('failed');
    files.interfere = () => Promise.reject(new TypeError('connection refused'));
    await platform.advance(7_000);
    files.interfere = () => Response.json({ version: 2 });
    await platform.advance(2_000);
    files.interfere = () => undefined;
    await recovered({ client, platform });
    expect(new Set(codes())).toEqual(new Set(['internal_error', 'network_error', 'invalid_response']));
  });

  test('is read on demand in the mode manual', async () => {
    const { client, platform, files } = published({ mode: 'manual' });
    expect(await client.refresh()).toBe(true);
    files.publish({ a: { enabled: true, value: 2 } }, 2);
    await platform.advance(200_000);
    expect([client.getValue('a', 0), platform.pending]).toEqual([1, 0]);
    expect(await client.refresh()).toBe(false);
    expect([client.getValue('a', 0), client.status]).toEqual([2, 'stale']);
  });

  test.each([[''], ['nowhere'], ['https://cdn.example/%ff']])('an address %p is refused', async (baseUrl) => {
    const { client, codes } = published({ baseUrl });
    expect((await client.ready()).error?.code).toBe('invalid_options');
    expect(codes()).toEqual(['invalid_options']);
  });
});

describe('published files as the fallback of a node', () => {
  function fallback(options: Partial<FallbackOptions> = {}) {
    const [server, files] = [new ScriptedServer(), new ScriptedFiles()];
    const platform = new FakePlatform((url, init) =>
      url.startsWith('https://cdn.example/') ? files.fetch(url, init) : server.fetch(url, init),
    );
    files.platform = platform;
    files.publish();
    const { onError, codes } = recorder();
    const client = createClientWithFallbackOn(platform, {
      apiKey: TEST_KEY,
      environment: 'production',
      baseUrl: 'https://flags.example',
      published: FOLDER,
      onError,
      ...options,
    });
    open.push(client);
    return { client, platform, server, files, codes };
  }

  test('are not read while a node answers, and then without the key (S18.5)', async () => {
    const { client, platform, server, files, codes } = fallback();
    await client.ready();
    await platform.advance(40_000);
    expect(files.requests).toEqual([]);

    server.fail();
    files.publish({ a: { enabled: true, value: 2 } }, 2);
    await platform.advance(7_000);
    expect([client.getValue('a', 0), client.status, client.revision]).toEqual([2, 'ready', 2]);
    expect(JSON.stringify(files.requests.map(({ url, headers }) => [url, [...headers]]))).not.toContain(
      TEST_KEY,
    );
    expect(new Set(codes())).toEqual(new Set(['stream_error', 'network_error']));

    server.flags = { a: { enabled: true, value: 3 } };
    server.revision = 3;
    server.heal();
    await platform.advanceUntil(() => client.getValue('a', 0) === 3, 35_000);
    const before = files.requests.length;
    await platform.advance(40_000);
    expect(files.requests.length).toBe(before);
  });

  test('start a client without a node, in time for ready()', async () => {
    const { client, platform, server, files } = fallback();
    files.publish(files.flags, 1, 600_000);
    server.fail(blackHole);
    const ready = client.ready();
    await platform.advance(4_000);
    expect(await ready).toEqual({ status: 'ready' });
    expect(client.getValue('a', 0)).toBe(1);
    await platform.advance(1);
    expect(client.status).toBe('stale');
  });

  test('that are old say nothing to a client that has flags', async () => {
    const { client, platform, server, files } = fallback();
    await client.ready();
    files.publish({ a: { enabled: true, value: 80 } }, 80, 600_000);
    server.fail();
    await platform.advance(120_000);
    expect([client.getValue('a', 0), client.status]).toEqual([1, 'stale']);
  });

  test('do not stand in for a node that refuses the key', async () => {
    const { client, platform, server, files } = fallback();
    server.fail(() => errorAnswer(401, 'invalid_api_key'));
    const ready = client.ready();
    await platform.advance(120_000);
    expect((await ready).error?.code).toBe('invalid_api_key');
    expect([files.requests, client.status]).toEqual([[], 'failed']);
  });

  test('at an invalid address are reported at once, and the node is followed', async () => {
    const { client, codes } = fallback({ published: 'nowhere' });
    await settle();
    expect(codes()).toEqual(['invalid_options']);
    expect((await client.ready()).status).toBe('ready');
  });
});
