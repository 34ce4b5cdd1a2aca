import { describe, expect, setSystemTime, test } from 'bun:test';
import { ENVIRONMENT_HEADER } from '@halyard/protocol';
import { sendRaw, until } from '@halyard/testing';
import type { BunRequest } from 'bun';
import { KeyIndex } from '../catalog/key-index.ts';
import type { EvaluationSettings } from '../serving/context.ts';
import { eventStreams, waitForRevision } from './stream.ts';
import { openTestRoutes } from './test-routes.ts';

/** The parts of a node that streams need, and what a page does with them. */
function setUp(settings: EvaluationSettings = {}) {
  const { url, context, hub, counters, state, key, environment } = openTestRoutes(settings);
  /** The address that a bulk read with these headers, below this environment, would be given. */
  const address = (headers: Record<string, string> = {}, below?: string) => {
    const params = below === undefined ? {} : { environment: below };
    const request = Object.assign(new Request('http://here/ofrep/v1/evaluate/flags', { headers }), {
      params,
    });
    // `BunRequest`: an address is made of these members alone.
    const [stream] = eventStreams(context, request as unknown as BunRequest, { key, environment });
    return stream?.endpoint?.requestUri ?? '';
  };
  const open = (headers: Record<string, string> = {}, path = address()) =>
    fetch(`${url}${path}`, { headers });
  const read = (tag = '') =>
    fetch(`${url}/ofrep/v1/evaluate/flags`, {
      method: 'POST',
      headers: { 'X-API-Key': 'key', 'If-None-Match': tag },
      body: '{}',
    });
  const change = () => environment.apply(environment.revision + 1, [['flag', '{"enabled":true}']]);
  return { url, context, state, hub, counters, environment, address, open, read, change };
}

describe('the address of an event stream', () => {
  test('is below the environment where the read was', () => {
    const { address } = setUp();
    expect(address()).toMatch(/^\/ofrep\/v1\/stream\?ticket=/);
    expect(address({ [ENVIRONMENT_HEADER]: 'production' })).toBe(address());
    expect(address({}, 'production')).toBe(`/environments/production${address()}`);
  });

  test('begins with the path that a trusted proxy removes', () => {
    const { address } = setUp({ trustProxy: true });
    const plain = address();
    for (const [prefix, expected] of [
      ['/halyard', '/halyard'],
      ['/a/b-c_d.e~f', '/a/b-c_d.e~f'],
      ['/halyard/', '/halyard'],
      ['/', ''],
      ['', ''],
      ['halyard', ''],
      ['//evil.example', ''],
      ['/a//b', ''],
      ['https://evil.example', ''],
      ['/a?b', ''],
      ['/a, /b', ''],
    ] as const)
      expect([prefix, address({ 'X-Forwarded-Prefix': prefix })]).toEqual([prefix, `${expected}${plain}`]);
  });

  test('does not depend on the request without a trusted proxy', () => {
    const { address } = setUp();
    expect(address({ 'X-Forwarded-Prefix': '/halyard', Host: 'evil.example' })).toBe(address());
  });

  test('changes the tag of the answer with it, so that a provider whose ticket has ended gets a new one', async () => {
    const { read } = setUp();
    setSystemTime(new Date('2026-11-22T09:40:00Z'));
    const first = await read();
    const tag = first.headers.get('ETag') ?? '';
    expect((await read(tag)).status).toBe(304);
    setSystemTime(new Date('2026-11-22T09:59:59Z'));
    expect((await read(tag)).status).toBe(304);
    setSystemTime(new Date('2026-11-22T10:00:00Z'));
    const next = await read(tag);
    expect(next.status).toBe(200);
    setSystemTime();
    const addressIn = async (answer: Response) => JSON.stringify(await answer.json());
    expect(await addressIn(next)).not.toBe(await addressIn(first));
  });
});

describe('GET /ofrep/v1/stream', () => {
  test('shares the limit of streams for each key with the other streams', async () => {
    const { hub, environment, open } = setUp({ maxStreamsPerKey: 3 });
    void hub.open(environment, 'k');
    void hub.openChanges(environment, 'k');
    const answer = await open();
    expect(answer.status).toBe(200);
    expect(hub.streamsOfKey('k')).toBe(3);
    const refused = await open();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('Retry-After')).toBe('5');
    expect(await refused.json()).toMatchObject({ error: 'rate_limited', errorDetails: expect.any(String) });
    await answer.body?.cancel();
  });

  test('counts towards the rate limit of the key', async () => {
    const { open } = setUp({ rateLimit: 1 });
    const answer = await open();
    expect([answer.status, (await open()).status]).toEqual([200, 429]);
    await answer.body?.cancel();
  });

  test('is refused with 500 while the log is lost, and before there is a catalog, whatever the ticket', async () => {
    const { state, open } = setUp();
    state.canStream = false;
    const lost = await open();
    expect([lost.status, lost.headers.get('Retry-After')]).toEqual([500, '1']);
    expect((await open({}, '/ofrep/v1/stream?ticket=x')).status).toBe(401);
    state.canRead = false;
    expect((await open({}, '/ofrep/v1/stream?ticket=x')).status).toBe(500);
  });

  test('a ticket of a key that this node may not know yet is refused with 500, not as invalid', async () => {
    const { context, state, address, open } = setUp();
    const paths = [address(), address({}, 'production')];
    context.catalog.keys.takeAll(new KeyIndex(Date.now));
    for (const path of paths) expect((await open({}, path)).status).toBe(401);
    state.mayLackRecords = true;
    for (const path of paths) {
      const answer = await open({}, path);
      expect([answer.status, answer.headers.get('Retry-After')]).toEqual([500, '1']);
    }
    expect((await open({}, '/ofrep/v1/stream')).status).toBe(401);
  });

  test('counts as a use of the key only with a valid ticket', async () => {
    const { context, address, open } = setUp();
    const { keys } = context.catalog;
    keys.takeUsed();
    await open({}, address().replace(/.$/, '!'));
    await open({}, address().replace(/.{43}$/, 'A'.repeat(43)));
    expect(keys.takeUsed()).toEqual([]);
    await (await open()).body?.cancel();
    expect(keys.takeUsed()).toEqual(['k']);
  });

  test('lets pages of listed origins read it, and its refusals', async () => {
    const { open } = setUp({ corsOrigins: ['https://shop.example'] });
    for (const path of [undefined, '/ofrep/v1/stream']) {
      const answer = await open({ Origin: 'https://shop.example' }, path);
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe('https://shop.example');
      await answer.body?.cancel();
    }
    const stranger = await open({ Origin: 'https://other.example' });
    expect(stranger.headers.get('Access-Control-Allow-Origin')).toBeNull();
    await stranger.body?.cancel();
  });

  test('is counted under its own name, and never by its address', async () => {
    const { counters, open } = setUp();
    await (await open()).body?.cancel();
    await open({}, '/ofrep/v1/stream?ticket=x');
    expect([...counters.entries()]).toEqual([
      { operation: 'ofrep-stream', status: 200, count: 1 },
      { operation: 'ofrep-stream', status: 401, count: 1 },
    ]);
  });
});

test.each(['frames', 'events'])('a connection that carried a stream of %s ends with it', async (form) => {
  const { url, hub, address } = setUp();
  const path = form === 'events' ? address() : '/v1/stream?env=production';
  const exchange = sendRaw(url, `GET ${path} HTTP/1.1\r\nHost: here\r\nX-Service-Key: key\r\n\r\n`);
  await until('the stream is open', () => hub.size === 1);
  hub.closeKey('k');
  expect((await exchange).ended).toBe('closed');
});

describe('a read for an event', () => {
  test('waits until its revision is there', async () => {
    const { context, environment, change } = setUp();
    await waitForRevision(context, environment, 0);
    await waitForRevision(context, environment, 7);
    const waiting = waitForRevision(context, environment, 9);
    change();
    let isOver = false;
    void waiting.then(() => {
      isOver = true;
    });
    await Bun.sleep(0);
    expect(isOver).toBe(false);
    change();
    await waiting;
  });

  test('does not wait while the log is lost', async () => {
    const { context, state, environment } = setUp();
    state.staleSeconds = 3;
    await waitForRevision(context, environment, 8);
    expect(environment.revision).toBe(7);
  });
});
