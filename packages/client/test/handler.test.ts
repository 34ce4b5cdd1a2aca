import { afterEach, describe, expect, test } from 'bun:test';
import { createFlagsHandler } from '../src/handler.ts';
import { createTestClient } from '../src/testing.ts';
import { closeAll, closers, get, make as makeHandler, read } from './support/handlers.ts';
import { harness, TEST_KEY } from './support/harness.ts';

afterEach(closeAll);

const FLAGS = { a: { enabled: true, value: 1 }, secret: { enabled: true, value: 'x' } };
const make = (options: Parameters<typeof makeHandler>[0] = {}) => makeHandler(options, FLAGS);

describe('the handler', () => {
  test('answers as the service does, with the revision and without the key', async () => {
    const { handler } = make();
    const response = await handler(get('/v1/flags?env=production'));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ environment: 'production', flags: FLAGS });
    expect(response.headers.get('X-Flags-Revision')).toBe('1');
    expect(response.headers.get('Cache-Control')).toBe('private, no-cache');
    // Pages have no key with which they could report reads. (Spec: S17.8)
    expect(response.headers.has('X-Flags-Usage')).toBe(false);
  });

  test('answers 304 to a page that has the same flags', async () => {
    const { client, handler } = make();
    const ask = (tag?: string) =>
      handler(
        get('/v1/flags?env=production', tag === undefined ? {} : { headers: { 'If-None-Match': tag } }),
      );
    const tag = (await ask()).headers.get('ETag') ?? '';
    const again = await ask(`W/${tag}`);
    expect([again.status, await again.text(), again.headers.get('X-Flags-Revision')]).toEqual([304, '', '1']);
    client.set('a', false);
    expect((await ask(tag)).status).toBe(200);
  });

  test('spares a page that polls the flags that it has', async () => {
    const { handler } = make();
    const statuses: number[] = [];
    const { client } = harness({
      mode: 'manual',
      fetch: async (url, init) => {
        const response = await handler(new Request(url, init));
        statuses.push(response.status);
        return response;
      },
    });
    await client.refresh();
    expect(await client.refresh()).toBe(true);
    expect(statuses).toEqual([200, 304]);
    expect(client.isEnabled('a')).toBe(true);
  });

  test.each([undefined, null, {}])('cannot be made of %p, and says so', (options) => {
    expect(() => createFlagsHandler(options as never)).toThrow('createFlagsHandler needs { client }');
  });

  test('streams the current map and every change, numbered as on the service', async () => {
    const { client, handler } = make();
    const stream = await read(handler, get('/v1/stream?env=production'));
    expect(stream.response.headers.get('Content-Type')).toBe('text/event-stream');
    expect(stream.response.headers.get('X-Flags-Revision')).toBe('1');
    expect(await stream.next()).toBe(`data: ${JSON.stringify(FLAGS)}\n\n`);
    client.set('a', false);
    expect(await stream.next()).toContain('"a":{"enabled":false}');
  });

  test('streams only while its own flags are current, as the service does', async () => {
    const { client, handler } = make();
    const stream = await read(handler, get('/v1/stream?env=production'));
    await stream.next();
    client.goStale();
    expect(await stream.next()).toBeUndefined();
    const refused = await handler(get('/v1/stream?env=production'));
    expect(refused.status).toBe(500);
    expect(refused.headers.get('Retry-After')).toBe('10');
    expect(await refused.json()).toMatchObject({ error: 'internal_error' });
    const rest = await handler(get('/v1/flags?env=production'));
    expect(rest.status).toBe(200);
    expect(rest.headers.has('X-Flags-Stale')).toBe(true);
    client.recover();
    expect((await handler(get('/v1/stream?env=production'))).status).toBe(200);
  });

  test('refuses at once when the flags could not be loaded', async () => {
    const { client, server, platform } = harness();
    server.fail();
    void client.ready();
    await platform.advance(1_500);
    const handler = createFlagsHandler({ client });
    expect((await handler(get('/v1/flags?env=production'))).status).toBe(500);
  });

  test.each([
    ['gives a promise of false', async () => false],
    ['gives a promise that rejects', async () => Promise.reject(new Error('no'))],
    ['gives a string', () => 'no'],
  ])('exposes nothing when expose %s', async (_, expose) => {
    const { handler } = make({ expose: expose as never });
    const response = await handler(get('/v1/flags?env=production'));
    expect(await response.json()).toEqual({ environment: 'production', flags: {} });
  });

  test('an address of the documentation that is not a string is left out', async () => {
    const { handler } = make({ docsUrl: { x: 1 } as never });
    const response = await handler(get('/v1/nothing'));
    expect(response.status).toBe(404);
    expect(await response.json()).not.toHaveProperty('docs');
  });

  test('shows only what is exposed', async () => {
    const { client, handler } = make({ expose: (key) => key !== 'secret' });
    const body = await (await handler(get('/v1/flags?env=production'))).json();
    expect(body).toEqual({ environment: 'production', flags: { a: FLAGS.a } });
    const stream = await read(handler, get('/v1/stream?env=production'));
    expect(await stream.next()).not.toContain('secret');
    client.set('secret', false);
    expect(await stream.next()).not.toContain('secret');
  });

  test.each([
    ['/v1/flags', 400, 'invalid_argument'],
    ['/v1/flags?env=', 400, 'invalid_argument'],
    ['/v1/flags?env=production&env=production', 400, 'invalid_argument'],
    ['/v1/flags?env=staging', 404, 'environment_not_found'],
    ['/v1/other?env=production', 404, 'not_found'],
    ['', 404, 'not_found'],
  ])('refuses %j with %d %s', async (path, status, error) => {
    const { handler } = make({ docsUrl: 'https://flags.example/docs' });
    const response = await handler(get(path));
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({
      error,
      docs: `https://flags.example/docs/errors/${error}`,
    });
  });

  test('takes GET and HEAD only', async () => {
    const { handler } = make();
    const response = await handler(get('/v1/flags?env=production', { method: 'POST' }));
    expect(response.status).toBe(405);
    expect(response.headers.get('Allow')).toBe('GET, HEAD');
  });

  test('lets in readers that the application accepts, and none when its check throws', async () => {
    const { handler } = make({ authorize: (request) => request.headers.get('Cookie') === 'session=1' });
    expect((await handler(get('/v1/flags?env=production'))).status).toBe(401);
    const cookie = { headers: { Cookie: 'session=1' } };
    expect((await handler(get('/v1/flags?env=production', cookie))).status).toBe(200);
    const { handler: broken } = make({
      authorize: () => {
        throw new Error('the session store is at 10.0.0.5');
      },
    });
    const response = await broken(get('/v1/stream?env=production'));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('10.0.0.5');
  });

  test('says 500 while there are no flags, and that one may come back', async () => {
    const client = createTestClient({ environment: 'production' });
    client.fail();
    const response = await createFlagsHandler({ client })(get('/v1/flags?env=production'));
    expect(response.status).toBe(500);
    expect(response.headers.get('Retry-After')).toBe('1');
  });

  test('refuses more streams than allowed, and counts those that have gone', async () => {
    const { handler } = make({ maxStreams: 1 });
    const first = await read(handler, get('/v1/stream?env=production'));
    expect((await handler(get('/v1/stream?env=production'))).status).toBe(500);
    await first.cancel();
    expect((await handler(get('/v1/stream?env=production'))).status).toBe(200);
  });

  test('ends its streams when the client skipped revisions, so that frames keep their numbers', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    const handler = createFlagsHandler({ client });
    closers.push(() => handler.close());
    const stream = await read(handler, get('/v1/stream?env=production'));
    await stream.next();
    server.revision = 5;
    server.flags = { a: { enabled: true, value: 5 } };
    server.latest.break();
    await platform.advance(1_500);
    expect(client.revision).toBe(5);
    expect(await stream.next()).toBeUndefined();
    const again = await read(handler, get('/v1/stream?env=production'));
    expect(again.response.headers.get('X-Flags-Revision')).toBe('5');
    expect(await again.next()).toContain('5');
  });

  test('cuts a reader that does not read, and drops what waited for it', async () => {
    const { client, handler } = make();
    const response = await handler(get('/v1/stream?env=production'));
    for (let i = 0; i < 20; i++) client.set('a', { enabled: true, value: `${i}${'x'.repeat(200_000)}` });
    const reader = response.body?.getReader();
    expect(await reader?.read().catch(() => 'cut')).toBe('cut');
    expect((await handler(get('/v1/stream?env=production'))).status).toBe(200);
  });

  test('streams that open between two changes begin with the same frame, made once', async () => {
    const asked: string[] = [];
    const { client, handler } = make({ expose: (key) => asked.push(key) > 0 && key === 'a' });
    const open = () => read(handler, get('/v1/stream?env=production'));
    const streams = [await open(), await open(), await open()];
    for (const { next } of streams) expect(await next()).toBe('data: {"a":{"enabled":true,"value":1}}\n\n');
    expect(asked).toEqual(['a', 'secret']);
    client.set('a', false);
    const late = await open();
    for (const { next } of [...streams, late]) expect(await next()).toBe('data: {"a":{"enabled":false}}\n\n');
    expect(asked).toEqual(['a', 'secret', 'a', 'secret']);
    for (const { cancel } of [...streams, late]) await cancel();
    await (await open()).cancel();
    expect(asked).toHaveLength(6); // no stream was open, so the rule of the application may have changed
  });

  test('one reader, by the name that authorize returns, cannot use up the streams of the others', async () => {
    const { handler } = make({
      authorize: (request) => request.headers.get('Cookie') ?? '',
      maxStreamsPerReader: 2,
    });
    const open = (reader: string, path = '/v1/stream?env=production') =>
      handler(get(path, { headers: { Cookie: reader } }));
    expect((await open('')).status).toBe(401);
    const [first] = [await open('ana'), await open('ana', '/ofrep/v1/stream')];
    const refused = await open('ana');
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '10']);
    expect(await refused.json()).toMatchObject({ error: 'rate_limited' });
    expect((await open('bo')).status).toBe(200);
    await first?.body?.cancel();
    expect((await open('ana')).status).toBe(200);
  });

  test('ends its streams when the client is closed, which tells of no more changes', async () => {
    const { client, handler } = make();
    const stream = await read(handler, get('/v1/stream?env=production'));
    await stream.next();
    await client.close();
    expect(await stream.next()).toBeUndefined();
  });

  test('ends its streams when a change cannot be sent, so that no page misses it', async () => {
    const { client, handler } = make({
      expose: (_, { value }) => {
        if (value === 'bad') throw new Error('the rule of the application is wrong');
        return true;
      },
    });
    const stream = await read(handler, get('/v1/stream?env=production'));
    await stream.next();
    client.set('a', { enabled: true, value: 'bad' });
    client.set('a', { enabled: true, value: 'good' });
    expect(await stream.next()).toBeUndefined();
    const again = await read(handler, get('/v1/stream?env=production'));
    expect(again.response.headers.get('X-Flags-Revision')).toBe('3');
  });

  test('its refusals are not kept by caches', async () => {
    const { handler } = make();
    for (const path of ['/v1/flags', '/v1/other?env=production', '/v1/flags?env=staging'])
      expect((await handler(get(path))).headers.get('Cache-Control')).toBe('no-store');
  });

  test('close ends its streams, twice if need be', async () => {
    const { handler } = make();
    const stream = await read(handler, get('/v1/stream?env=production'));
    await stream.next();
    handler.close();
    handler.close();
    expect(await stream.next()).toBeUndefined();
  });
});

test('the key of the client behind it never reaches a browser', async () => {
  const { client, server, platform } = harness();
  await client.ready();
  const handler = createFlagsHandler({ client });
  closers.push(() => handler.close());
  const failed = new Promise<void>((resolve) => client.onStatus(() => resolve()));
  server.fail();
  server.latest.break();
  await platform.advance(60_000);
  await failed;
  for (const path of ['/v1/flags?env=production', '/v1/flags', '/v1/stream?env=x', '/x']) {
    const response = await handler(get(path));
    expect(JSON.stringify([...response.headers]) + (await response.text())).not.toContain(TEST_KEY);
  }
});
