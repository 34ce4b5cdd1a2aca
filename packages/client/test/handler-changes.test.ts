import { afterEach, describe, expect, test } from 'bun:test';
import { changeEvent } from '@halyard/protocol';
import { createClientOn } from '../src/client.ts';
import { createFlagsHandler } from '../src/handler.ts';
import { FakePlatform, settle } from './support/fake-platform.ts';
import { closeAll, closers, get, make, read } from './support/handlers.ts';
import { harness } from './support/harness.ts';

const CHANGES = '/v1/stream?env=production&changes=1';

afterEach(closeAll);

/** A handler of a client that follows a scripted server. */
async function following() {
  const parts = harness();
  await parts.client.ready();
  const handler = createFlagsHandler({ client: parts.client });
  closers.push(() => handler.close());
  return { ...parts, handler };
}

describe('the stream of changes', () => {
  test('begins with what is exposed, and then has only what differs', async () => {
    const { client, handler } = make({ expose: (key, { value }) => key !== 'secret' && value !== 'hidden' });
    const stream = await read(handler, get(CHANGES));
    expect(stream.response.headers.get('X-Flags-Revision')).toBe('1');
    expect(await stream.next()).toBe(
      changeEvent(
        { from: null, to: 1, removed: [] },
        '{"plain":{"enabled":true},"text":{"enabled":true,"value":"hello"},"half":{"enabled":true,"rolloutPct":50}}',
      ),
    );

    client.set('plain', false);
    expect(await stream.next()).toBe(
      changeEvent({ from: 1, to: 2, removed: [] }, '{"plain":{"enabled":false}}'),
    );
    client.set('secret', { enabled: true, value: 'y' });
    expect(await stream.next()).toBe(changeEvent({ from: 2, to: 3, removed: [] }, '{}'));
    client.set('text', { enabled: true, value: 'hidden' });
    expect(await stream.next()).toBe(changeEvent({ from: 3, to: 4, removed: ['text'] }, '{}'));
  });

  test('takes any text for a key', async () => {
    const flags = JSON.parse(
      '{"__proto__":{"enabled":true},"constructor":{"enabled":true},"a":{"enabled":true}}',
    );
    const { client, handler } = make({}, flags);
    const stream = await read(handler, get(CHANGES));
    expect(await stream.next()).toBe(changeEvent({ from: null, to: 1, removed: [] }, JSON.stringify(flags)));
    client.replace({ a: { enabled: true }, toString: { enabled: false } });
    expect(await stream.next()).toBe(
      changeEvent(
        { from: 1, to: 2, removed: ['__proto__', 'constructor'] },
        '{"toString":{"enabled":false}}',
      ),
    );
  });

  test('is made once for all its readers', async () => {
    const asked: string[] = [];
    const { client, handler } = make({ expose: (key) => asked.push(key) > 0 });
    const streams = [await read(handler, get(CHANGES)), await read(handler, get(CHANGES))];
    const maps = await read(handler, get('/v1/stream?env=production'));
    expect(asked).toHaveLength(4);
    client.set('plain', false);
    for (const { next } of streams) expect((await next())?.startsWith('event: change\n')).toBe(true);
    expect(await streams[0]?.next()).toBe((await streams[1]?.next()) ?? '');
    expect(await maps.next()).toStartWith('data: {');
    expect(asked).toHaveLength(8);
  });

  test('counts revisions that change nothing, so that readers who come later have the same one', async () => {
    const { server, handler } = await following();
    const first = await read(handler, get(CHANGES));
    await first.next();
    server.change(server.flags);
    await settle();

    const second = await read(handler, get(CHANGES));
    expect(await first.next()).toBe(changeEvent({ from: 1, to: 2, removed: [] }, '{}'));
    expect(await second.next()).toBe(
      changeEvent({ from: null, to: 2, removed: [] }, JSON.stringify(server.flags)),
    );
    server.change({ b: { enabled: true } });
    await settle();
    const change = changeEvent({ from: 2, to: 3, removed: ['a'] }, '{"b":{"enabled":true}}');
    expect([await first.next(), await second.next()]).toEqual([change, change]);
  });

  test('skips revisions as its client does, where a stream of maps has to end', async () => {
    const { server, platform, handler } = await following();
    const [maps, changes] = [
      await read(handler, get('/v1/stream?env=production')),
      await read(handler, get(CHANGES)),
    ];
    await Promise.all([maps.next(), changes.next()]);
    server.revision = 5;
    server.flags = { b: { enabled: false } };
    server.latest.break();
    await platform.advance(1_500);
    expect(await maps.next()).toBeUndefined();
    expect(await changes.next()).toBe(
      changeEvent({ from: 1, to: 5, removed: ['a'] }, '{"b":{"enabled":false}}'),
    );
  });

  test('ends when revisions start lower', async () => {
    const { server, client, platform, handler } = await following();
    server.change({ a: { enabled: false } });
    await settle();
    const stream = await read(handler, get(CHANGES));
    await stream.next();
    server.revision = 1;
    server.flags = { a: { enabled: true } };
    server.latest.end();
    await platform.advanceUntil(() => client.revision === 1, 180_000);
    expect(await stream.next()).toBeUndefined();
  });

  test('is one of frames where maps are not numbered, and refused where another form is asked for', async () => {
    const parts = harness();
    parts.server.revision = undefined;
    await parts.client.ready();
    const handler = createFlagsHandler({ client: parts.client });
    closers.push(() => handler.close());
    const stream = await read(handler, get(CHANGES));
    expect(await stream.next()).toStartWith('data: {');

    const refused = await handler(get('/v1/stream?env=production&changes=2'));
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ error: 'invalid_argument' });
  });

  test('brings a page what its server learns, and a second handler behind it, too', async () => {
    const { server, handler } = await following();
    const platform = new FakePlatform((url, init) => handler(new Request(url, init)));
    const page = createClientOn(platform, {
      apiKey: false,
      environment: 'production',
      baseUrl: 'https://app.example/flags',
    });
    closers.push(() => page.close());
    const changed: (readonly string[])[] = [];
    page.onChange((change) => changed.push(change.changed));
    await page.ready();
    const kept = page.getState('a');

    server.change({ ...server.flags, b: { enabled: true, value: 2 } });
    await settle();
    expect(page.getValue('b', 0)).toBe(2);
    expect(page.getState('a')).toBe(kept);
    expect(page.revision).toBe(2);
    server.change({ b: { enabled: true, value: 2 } });
    await settle();
    expect(page.getState('a')).toBeUndefined();
    expect(changed).toEqual([['a'], ['b'], ['a']]);
  });
});
