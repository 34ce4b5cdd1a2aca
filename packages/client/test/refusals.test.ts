import { describe, expect, test } from 'bun:test';
import { createFlagsHandler } from '../src/handler.ts';
import type { ClientOptions } from '../src/index.ts';
import { createTestClient } from '../src/testing.ts';
import { settle } from './support/fake-platform.ts';
import { harness, RECOVERY_MS, recovered } from './support/harness.ts';
import { errorAnswer } from './support/scripted-server.ts';

describe('Retry-After', () => {
  test('each path is asked again when its own Retry-After says so', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    server.fail(() => errorAnswer(429, 'rate_limited', { 'Retry-After': '90' }));
    await platform.advance(7_000);
    const before = server.requests.length;
    await platform.advance(80_000);
    expect(server.requests.length).toBe(before);
    server.heal();
    await platform.advance(15_000);
    expect(client.status).toBe('ready');
  });

  test('a stream that is refused with Retry-After leaves REST to a client without a map at once', async () => {
    const { client, server, platform } = harness();
    server.onStream = () => new Response('busy', { status: 503, headers: { 'Retry-After': '60' } });
    const ready = client.ready();
    await platform.advance(1);
    expect((await ready).status).toBe('ready');
    expect(client.getValue('a', 0)).toBe(1);
    await platform.advance(59_000);
    expect(server.count('/v1/stream')).toBe(1);
    server.heal();
    await platform.advance(32_000);
    expect(server.streams).toHaveLength(1);
  });

  test('a stream that is lost and then refused with Retry-After leaves the polls to a client with a map', async () => {
    const { client, server, platform } = harness({ pollIntervalMs: 5_000 });
    await client.ready();
    server.latest.break();
    server.onStream = () => errorAnswer(500, 'internal_error', { 'Retry-After': '120' });
    for (let value = 2; value < 8; value++) {
      server.flags = { a: { enabled: true, value } };
      server.revision = value;
      await platform.advanceUntil(() => client.getValue('a', 0) === value, 6_000);
    }
  });

  test('a page beyond the streams that a handler allows gets its flags by REST', async () => {
    const behind = harness();
    await behind.client.ready();
    const handler = createFlagsHandler({ client: behind.client, maxStreams: 3 });
    const { another, platform } = harness({
      apiKey: false,
      baseUrl: 'https://app.example/flags',
      fetch: (url, init) => handler(new Request(url, init)),
    });
    for (let page = 0; page < 5; page++) {
      const ready = another({ headers: { 'X-Page': String(page) } }).ready();
      await platform.advance(1);
      expect((await ready).status).toBe('ready');
    }
    handler.close();
  });

  test('a page that starts while the client of its handler is stale gets its flags by REST', async () => {
    const test = createTestClient({ environment: 'production', flags: { a: true } });
    test.goStale();
    const handler = createFlagsHandler({ client: test });
    const { client, platform } = harness({ fetch: (url, init) => handler(new Request(url, init)) });
    void client.ready();
    await platform.advance(1);
    expect(client.isEnabled('a')).toBe(true);
    expect(client.status).toBe('stale');
  });

  test('a poll that the stream asks for does not come before the time that REST has named', async () => {
    const { client, server, platform } = harness();
    server.revision = undefined; // each stream that opens asks for a poll
    server.sendsFirstFrame = false;
    server.onRest = () => errorAnswer(429, 'rate_limited', { 'Retry-After': '90' });
    void client.ready();
    await platform.advance(1);
    for (let i = 0; i < 8; i++) {
      server.latest.break();
      await platform.advance(10_000);
    }
    expect(server.streams.length).toBeGreaterThan(2);
    expect(server.count('/v1/flags')).toBe(1);
    await platform.advance(15_000);
    expect(server.count('/v1/flags')).toBe(2);
  });

  test('a Retry-After of years delays the polls in the stream’s place by an hour at most', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    server.fail();
    server.onRest = () => errorAnswer(429, 'rate_limited', { 'Retry-After': '100000000' });
    await platform.advance(10_000);
    server.onRest = () => server.rest();
    server.change({ a: { enabled: true, value: 2 } });
    await platform.advance(3_600_000);
    expect(client.getValue('a', 0)).toBe(2);
  });

  test('Retry-After as a date is obeyed', async () => {
    const { client, server, platform, errors } = harness();
    await client.ready();
    const until = new Date(platform.wallClock() + 60_000).toUTCString();
    server.fail(() => errorAnswer(500, 'internal_error', { 'Retry-After': until }));
    await platform.advance(7_000);
    expect(errors.at(-1)?.retryInMs).toBeGreaterThan(50_000);
    const before = server.requests.length;
    await platform.advance(50_000);
    expect(server.requests.length).toBe(before);
  });
});

describe('a refusal', () => {
  test.each([
    [401, 'invalid_api_key'],
    [404, 'environment_not_found'],
  ])('%d is retried slowly, and heals when the cause is undone', async (status, code) => {
    const { client, server, platform, errors } = harness();
    server.fail(() => errorAnswer(status, code));
    const ready = client.ready();
    await platform.advance(1);
    expect(await ready).toMatchObject({ status: 'failed', error: { code, status } });
    expect(errors[0]?.docs).toBe(`https://docs.example/errors/${code}`);
    const before = [server.count('/v1/stream'), server.count('/v1/flags')];
    await platform.advance(3_600_000);
    for (const path of ['/v1/stream', '/v1/flags'] as const) {
      const asked = server.count(path) - (before.shift() ?? 0);
      expect(asked).toBeGreaterThanOrEqual(12);
      expect(asked).toBeLessThanOrEqual(24);
    }
    server.heal();
    await platform.advance(300_000);
    expect(client.status).toBe('ready');
    expect(client.isEnabled('a')).toBe(true);
  });

  test.each([
    [401, 'invalid_api_key'],
    [404, 'environment_not_found'],
    [404, 'not_found'],
    [403, 'forbidden'],
  ])('a stream that alone is refused with %d %s is replaced by REST', async (status, code) => {
    const { client, server, platform } = harness();
    server.onStream = () => errorAnswer(status, code);
    const ready = client.ready();
    await platform.advance(1);
    expect((await ready).status).toBe('ready');
    for (let value = 2; value < 12; value++) {
      server.flags = { a: { enabled: true, value } };
      server.revision = value;
      await platform.advanceUntil(() => client.getValue('a', 0) === value, RECOVERY_MS);
      expect(client.status).toBe('ready');
    }
    server.heal();
    await platform.advanceUntil(() => server.streams.length === 1, 300_000);
  });

  test('a 404 is retried slowly only for an unknown environment', async () => {
    const { client, server, platform } = harness();
    server.fail(() => errorAnswer(404, 'not_found'));
    void client.ready();
    await platform.advance(600_000);
    server.heal();
    await recovered({ client, platform });
  });

  /** A client that was refused for 20 minutes, until a refresh succeeded. */
  async function refreshedAfterRefusal(options?: Partial<ClientOptions>) {
    const { client, server, platform } = harness(options);
    platform.chance = 0.999;
    server.fail(() => errorAnswer(401, 'invalid_api_key'));
    void client.ready();
    await platform.advance(20 * 60_000);
    server.heal();
    expect(await client.refresh()).toBe(true);
    await settle();
    return { client, server, platform };
  }

  test('after a refusal, a refresh that succeeds opens the stream at once', async () => {
    const { client, server, platform } = await refreshedAfterRefusal();
    expect(server.streams).toHaveLength(1);
    server.fail();
    await platform.advance(1_500); // one second, as after a first failure
    expect(server.count('/v1/stream')).toBeGreaterThan(1);
    await client.close();
  });

  test('in the mode poll, a refresh that succeeds after a refusal starts the polling again', async () => {
    const { client, server, platform } = await refreshedAfterRefusal({
      mode: 'poll',
      pollIntervalMs: 10_000,
    });
    const polls = server.count('/v1/flags');
    await platform.advance(25_000);
    expect(server.count('/v1/flags')).toBe(polls + 2);
    await client.refresh();
    expect(server.count('/v1/flags')).toBe(polls + 3);
  });

  test('closing a client during a refresh leaves nothing open', async () => {
    const { client, server, platform } = harness();
    server.fail(() => errorAnswer(401, 'invalid_api_key'));
    void client.ready();
    await platform.advance(10_000);
    server.heal();
    const refreshed = client.refresh();
    await client.close();
    await refreshed;
    await platform.advance(600_000);
    expect(server.streams).toHaveLength(0);
    expect(platform.pending).toBe(0);
  });

  test('a key revoked under a running client keeps the last flags', async () => {
    const { client, server, platform, codes } = harness();
    await client.ready();
    server.fail(() => errorAnswer(401, 'invalid_api_key'));
    await platform.advance(60_000);
    expect(codes()).toContain('invalid_api_key');
    expect(client.status).toBe('stale');
    expect(client.isEnabled('a')).toBe(true);
  });
});

test('a client whose stream only sends keep-alives while REST fails has failed, and recovers', async () => {
  const { client, server, platform } = harness();
  server.sendsFirstFrame = false;
  server.onRest = () => errorAnswer(500, 'internal_error');
  void client.ready();
  for (let i = 0; i < 5; i++) {
    await platform.advance(15_000);
    server.latest.text(':\n\n');
  }
  expect(client.status).toBe('failed');
  server.heal();
  await recovered({ client, platform });
});
