import { expect, test } from 'bun:test';
import { createTestClient } from '../src/testing.ts';

test('flags are set, changed and removed at once, and listeners hear it', () => {
  const client = createTestClient({ flags: { on: true, text: { enabled: true, value: 'a' } } });
  const heard: string[][] = [];
  client.onChange(({ changed }) => heard.push([...changed]));
  expect(client.isEnabled('on')).toBe(true);
  expect(client.getValue('text', '')).toBe('a');
  client.set('text', { enabled: true, value: 'b' });
  client.set('on', false);
  client.remove('on');
  client.set('text', { enabled: true, value: 'b' });
  expect(client.getValue('text', '')).toBe('b');
  client.replace({ x: true });
  expect(heard).toEqual([['text'], ['on'], ['on'], ['x', 'text']]);
});

test('it fails, goes stale and recovers as a real client would', async () => {
  const codes: string[] = [];
  const client = createTestClient({ onError: ({ code }) => codes.push(code) });
  const seen: string[] = [];
  client.onStatus((status) => seen.push(status));
  expect(await client.ready()).toEqual({ status: 'ready' });
  client.fail('invalid_api_key');
  expect(await client.ready()).toMatchObject({ status: 'failed', error: { code: 'invalid_api_key' } });
  expect(client.evaluate('x', 1)).toMatchObject({ reason: 'error', errorCode: 'not_ready', stale: true });
  client.set('x', true);
  client.recover();
  client.goStale();
  expect(client.isEnabled('x')).toBe(true);
  expect(await client.refresh()).toBe(false);
  client.recover();
  client.fail();
  await client.close();
  expect(seen).toEqual(['failed', 'ready', 'stale', 'ready', 'stale', 'closed']);
  expect(codes).toEqual(['invalid_api_key', 'network_error']);
});

test('rollouts, options and bootstrap work as on a real client', () => {
  const client = createTestClient({
    environment: 'staging',
    targetingKey: 'user-3',
    flags: { 'new-checkout': { enabled: true, rolloutPct: 51.93 } },
  });
  expect(client.isEnabled('new-checkout')).toBe(false);
  expect(client.isEnabled('new-checkout', { targetingKey: 'user-1' })).toBe(true);
  expect(client.toBootstrap()).toEqual({
    environment: 'staging',
    flags: { 'new-checkout': { enabled: true, rolloutPct: 51.93 } },
  });
});

test('a mistake in a test’s flags is thrown at it', () => {
  const wrong = { enabled: 'yes' } as never;
  expect(() => createTestClient({ flags: { x: wrong } })).toThrow('not a flag state');
  expect(() => createTestClient().set('x', wrong)).toThrow('not a flag state');
});

test('a test’s own objects are left alone, and values are what JSON makes of them', () => {
  const limits = { rows: 5, until: new Date(0) };
  const client = createTestClient({ flags: { limits: { enabled: true, value: limits as never } } });
  limits.rows = 6;
  expect(client.getValue('limits', {})).toEqual({ rows: 5, until: '1970-01-01T00:00:00.000Z' });
  client.set('limits', { enabled: true, value: limits as never });
  expect(client.getValue('limits', { rows: 0 }).rows).toBe(6);
});

test('once it is closed it says so, keeps its flags and calls no listener', async () => {
  const codes: string[] = [];
  const client = createTestClient({ flags: { a: true }, onError: ({ code }) => codes.push(code) });
  await client.close();
  expect(await client.ready()).toMatchObject({ status: 'failed', error: { code: 'client_closed' } });
  expect(await client.refresh()).toBe(false);
  expect(codes).toEqual(['client_closed']);
  client.set('a', false);
  client.fail();
  expect(client.isEnabled('a')).toBe(true);
  expect(codes).toEqual(['client_closed']);
});

test('options that are null, as from JavaScript, are no options', () => {
  expect(createTestClient(null as never).status).toBe('ready');
});
