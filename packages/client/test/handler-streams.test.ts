import { afterEach, describe, expect, jest, test } from 'bun:test';
import { ofrepEvent } from '@halyard/protocol';
import { createFlagsHandler } from '../src/handler.ts';
import { ask, BULK, bodyOf, closeAll, closers, EVENTS, get, make, read } from './support/handlers.ts';
import { harness } from './support/harness.ts';

afterEach(async () => {
  jest.useRealTimers();
  await closeAll();
});

describe('the event stream', () => {
  test('says at once and after each change that the flags are to be read again, and shows none', async () => {
    const { client, handler } = make();
    const stream = await read(handler, get(EVENTS));
    expect(stream.response.headers.get('Content-Type')).toBe('text/event-stream');
    expect(stream.response.headers.get('Cache-Control')).toBe('no-cache, no-transform');
    expect(await stream.next()).toMatch(/^retry: [12]\d{3}\nid: 1\ndata: /);
    client.set('plain', false);
    expect(await stream.next()).toBe(ofrepEvent(2));
  });

  test('does not repeat itself to a reader that comes back and has missed nothing', async () => {
    const { client, handler } = make();
    const back = (id: string) => read(handler, get(EVENTS, { headers: { 'Last-Event-ID': id } }));
    const stream = await back('1');
    expect(await stream.next()).toMatch(/^retry: [12]\d{3}\nid: 1\n\n$/);
    client.set('plain', false);
    expect(await stream.next()).toBe(ofrepEvent(2));
    expect(await (await back('1')).next()).toEndWith(ofrepEvent(2));
    expect(await (await back('3')).next()).toEndWith(ofrepEvent(2)); // a restored database counts from lower down
  });

  test('stays open where a stream of maps has to end', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    const handler = createFlagsHandler({ client });
    closers.push(() => handler.close());
    const [maps, events] = [
      await read(handler, get('/v1/stream?env=production')),
      await read(handler, get(EVENTS)),
    ];
    await Promise.all([maps.next(), events.next()]);
    server.revision = 5;
    server.flags = { plain: { enabled: false } };
    server.latest.break();
    await platform.advance(1_500);
    expect(await maps.next()).toBeUndefined();
    expect(await events.next()).toBe(ofrepEvent(5));
  });

  test('ends with the handler’s own view of the flags', async () => {
    const { client, handler } = make();
    const stream = await read(handler, get(EVENTS));
    await stream.next();
    client.goStale();
    expect(await stream.next()).toBeUndefined();
    const refused = await handler(get(EVENTS));
    expect(refused.status).toBe(500);
    expect(refused.headers.get('Retry-After')).toBe('10');
    expect((await bodyOf(refused)).errorDetails).toBeString();
    const bulk = await handler(ask(BULK));
    expect([bulk.status, bulk.headers.has('X-Flags-Stale')]).toEqual([200, true]);
  });

  test('counts among the streams that are allowed', async () => {
    const { handler } = make({ maxStreams: 1 });
    const first = await read(handler, get(EVENTS));
    expect((await handler(get('/v1/stream?env=production'))).status).toBe(500);
    await first.cancel();
    const second = await read(handler, get('/v1/stream?env=production'));
    expect((await handler(get(EVENTS))).status).toBe(500);
    await second.cancel();
  });
});

describe('who may read', () => {
  test('is decided for every route', async () => {
    const { handler } = make({ authorize: (request) => request.headers.get('Cookie') === 'session=1' });
    const requests = (headers: Record<string, string>) => [
      ask(BULK, {}, headers),
      ask(`${BULK}/plain`, {}, headers),
      get(EVENTS, { headers }),
      get('/v1/stream?env=production', { headers }),
      get('/v1/flags?env=production', { headers }),
      get('/openfeature/v0/manifest', { headers }),
    ];
    for (const request of requests({})) expect((await handler(request)).status).toBe(401);
    for (const request of requests({ Cookie: 'session=1' }))
      expect((await handler(request)).status).toBe(200);
    const body = await (await handler(ask(BULK))).json();
    const message = 'you may not read these flags';
    const general = { errorCode: 'GENERAL', errorDetails: message };
    expect(body).toEqual({ error: 'invalid_api_key', message, ...general } as never);
    const one = await (await handler(ask(`${BULK}/plain`))).json();
    expect(one).toEqual({ error: 'invalid_api_key', message, key: 'plain', ...general });
  });

  test.each([EVENTS, '/v1/stream?env=production'])(
    'is asked again for an open stream of %s',
    async (path) => {
      jest.useFakeTimers();
      let isSignedIn = true;
      const asked: (string | null)[] = [];
      const { handler } = make({
        authorize: (request) => {
          asked.push(request.headers.get('Cookie'));
          if (asked.length === 3) throw new Error('the session store is away');
          return isSignedIn;
        },
      });
      const cookie = { headers: { Cookie: 'session=1' } };
      const [first, second] = [
        await read(handler, get(path, cookie)),
        await read(handler, get(path, cookie)),
      ];
      await Promise.all([first.next(), second.next()]);
      jest.advanceTimersByTime(45_000);
      for (let i = 0; i < 3; i++)
        expect([await first.next(), await second.next()]).toEqual([':\n\n', ':\n\n']);
      expect(asked).toHaveLength(2);
      jest.advanceTimersByTime(15_000); // the first check throws, the second one lets its reader stay
      expect([await first.next(), await second.next()]).toEqual([':\n\n', ':\n\n']);
      expect(asked).toEqual(Array(4).fill('session=1'));
      expect(await first.next()).toBeUndefined();
      isSignedIn = false;
      jest.advanceTimersByTime(60_000);
      for (let i = 0; i < 4; i++) expect(await second.next()).toBe(':\n\n');
      expect(await second.next()).toBeUndefined();
    },
  );
});

test('a check that hangs for a minute is not begun again, and ends the stream', async () => {
  jest.useFakeTimers();
  let asked = 0;
  const { handler } = make({
    authorize: () => (asked++ === 0 ? true : Promise.withResolvers<boolean>().promise),
  });
  const stream = await read(handler, get(EVENTS));
  await stream.next();
  jest.advanceTimersByTime(105_000);
  for (let i = 0; i < 7; i++) expect(await stream.next()).toBe(':\n\n');
  jest.advanceTimersByTime(15_000);
  expect([await stream.next(), await stream.next()]).toEqual([':\n\n', undefined]);
  expect(asked).toBe(2);
});

test('HEAD is answered as GET without the body, and opens no stream', async () => {
  const { handler } = make({ maxStreams: 1 });
  const head = { method: 'HEAD' };
  const flags = await handler(get('/v1/flags?env=production', head));
  expect([flags.status, await flags.text()]).toEqual([200, '']);
  expect(flags.headers.get('Content-Type')).toStartWith('application/json');
  for (const path of [EVENTS, '/v1/stream?env=production']) {
    const stream = await handler(get(path, head));
    expect([stream.status, stream.headers.get('Content-Type')]).toEqual([200, 'text/event-stream']);
    expect(await stream.text()).toBe('');
  }
  expect((await handler(get('/v1/flags?env=staging', head))).status).toBe(404);
  await (await read(handler, get(EVENTS))).cancel();
});
