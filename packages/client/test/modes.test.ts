import { describe, expect, test } from 'bun:test';
import { harness, RECOVERY_MS } from './support/harness.ts';

describe('mode poll', () => {
  test('asks every interval, with the tag of the flags it has, and heals', async () => {
    const { client, server, platform } = harness({ mode: 'poll', pollIntervalMs: 10_000 });
    server.onRest = ({ headers }) =>
      headers.get('If-None-Match') === '"one"'
        ? new Response(null, { status: 304 })
        : server.rest({ ETag: '"one"' });
    expect((await client.ready()).status).toBe('ready');
    await platform.advance(60_000);
    expect(server.count('/v1/flags')).toBeGreaterThanOrEqual(6);
    expect(server.requests.at(-1)?.headers.get('If-None-Match')).toBe('"one"');
    expect(server.count('/v1/stream')).toBe(0);
    server.fail();
    await platform.advance(120_000);
    expect(client.status).toBe('stale');
    server.heal();
    await platform.advanceUntil(() => client.status === 'ready', RECOVERY_MS);
  });

  test('believes a service that restarted lower after a minute', async () => {
    const { client, server, platform, codes } = harness({ mode: 'poll', pollIntervalMs: 10_000 });
    server.revision = 50;
    await client.ready();
    server.revision = 3;
    server.flags = { a: { enabled: true, value: 'restored' } };
    await platform.advance(50_000);
    expect(client.getValue('a', 0) as unknown).toBe(1);
    await platform.advance(30_000);
    expect(client.getValue('a', '')).toBe('restored');
    expect(codes()).toEqual(['revision_reset']);
  });
});

describe('mode manual', () => {
  test('loads in ready() and refresh() only', async () => {
    const { client, server, platform } = harness({ mode: 'manual' });
    expect(client.isEnabled('a')).toBe(false);
    await platform.advance(60_000);
    expect(server.requests).toHaveLength(0);
    expect((await client.ready()).status).toBe('ready');
    expect(client.isEnabled('a')).toBe(true);
    server.change({ a: { enabled: false } });
    await platform.advance(600_000);
    expect(server.requests).toHaveLength(1);
    expect(platform.pending).toBe(0);
    expect(await client.refresh()).toBe(true);
    expect(client.isEnabled('a')).toBe(false);
    server.fail();
    expect(await client.refresh()).toBe(false);
  });

  test('a refresh that fails makes the flags stale, one that succeeds makes them current', async () => {
    const { client, server } = harness({ mode: 'manual' });
    await client.ready();
    server.fail();
    expect(await client.refresh()).toBe(false);
    expect(client.status).toBe('stale');
    expect(client.evaluate('a', 0)).toMatchObject({ value: 1, stale: true });
    expect(await client.refresh()).toBe(false);
    server.heal();
    server.onRest = () => server.rest({ 'X-Flags-Stale': '9' });
    expect(await client.refresh()).toBe(false);
    expect(client.status).toBe('stale');
    server.heal();
    expect(await client.refresh()).toBe(true);
    expect(client.status).toBe('ready');
  });

  test('a first refresh that fails leaves the client failed', async () => {
    const { client, server } = harness({ mode: 'manual' });
    server.fail();
    expect(await client.refresh()).toBe(false);
    expect(client.status).toBe('failed');
    expect(await client.refresh()).toBe(false);
    expect(client.status).toBe('failed');
  });

  test('a failed ready() is tried again by the next one', async () => {
    const { client, server } = harness({ mode: 'manual' });
    server.fail();
    expect((await client.ready()).status).toBe('failed');
    server.heal();
    expect((await client.ready()).status).toBe('ready');
    expect(client.status).toBe('ready');
  });
});
