import { describe, expect, test } from 'bun:test';
import { settle } from './support/fake-platform.ts';
import { harness } from './support/harness.ts';
import { refuse, type SeenRequest } from './support/scripted-server.ts';

const valued = (value: unknown) => ({ a: { enabled: true, value } });

describe('never an older map over a newer one (P7)', () => {
  test('a node that is behind after a newer one: the map is kept, another node is tried after about five seconds', async () => {
    const { client, server, platform, codes } = harness();
    server.revision = 9;
    server.flags = valued('newest');
    await client.ready();

    server.revision = 7;
    server.flags = valued('old');
    server.latest.end();
    await platform.advance(1_500);
    expect(server.streams).toHaveLength(2);
    expect(client.getValue('a', '')).toBe('newest');

    server.revision = 10;
    server.flags = valued('after');
    await platform.advance(6_500);
    expect(server.streams).toHaveLength(3);
    expect(server.streams[1]?.isCancelled).toBe(true);
    expect(client.getValue('a', '')).toBe('after');
    expect(codes()).toEqual(['stream_error']);
  });

  test('an answer that nothing has changed has a revision, too', async () => {
    const { client, server, platform } = harness({ mode: 'poll', pollIntervalMs: 5_000 });
    server.flags = valued('back again');
    server.onRest = () => server.rest({ ETag: '"back again"' });
    await client.ready();
    server.revision = 3;
    server.onRest = () => new Response(null, { status: 304, headers: { 'X-Flags-Revision': '3' } });
    await platform.advance(6_000);
    expect(client.revision).toBe(3);
    server.revision = 2;
    server.flags = valued('in between');
    server.heal();
    await platform.advance(6_000);
    expect(client.getValue('a', '')).toBe('back again');
  });

  test('a node that is behind catches up: its frames are counted and the connection is kept', async () => {
    const { client, server, platform } = harness();
    server.revision = 9;
    server.flags = valued('nine');
    await client.ready();
    server.revision = 7;
    server.flags = valued('seven');
    server.latest.end();
    await platform.advance(1_500);
    server.change(valued('eight'));
    await settle();
    expect(client.getValue('a', '')).toBe('nine');
    server.change(valued('nine'));
    server.change(valued('ten'));
    await settle();
    expect(client.getValue('a', '')).toBe('ten');
    expect(client.revision).toBe(10);
    await platform.advance(10_000);
    expect(server.streams).toHaveLength(2);
  });

  test('a slow answer of REST does not replace a newer frame', async () => {
    const { client, server, platform } = harness();
    let release: (response: Response) => void = () => {};
    await client.ready();
    server.onRest = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    const old = server.rest();
    const refreshed = client.refresh();
    await settle();
    server.change(valued('frame'));
    await settle();
    release(old);
    expect(await refreshed).toBe(true); // the flags at hand are newer than what was asked for
    await platform.advance(1);
    expect(client.getValue('a', '')).toBe('frame');
  });

  test('a newer answer of REST is not undone by the frames that were on their way', async () => {
    const { client, server } = harness();
    await client.ready();
    const [before, stream] = [client.revision, server.latest];
    server.streams.length = 0; // the network holds the frames back
    server.change(valued('two'));
    server.change(valued('three'));
    expect(await client.refresh()).toBe(true);
    expect(client.getValue('a', '')).toBe('three');
    stream.frame(valued('two'));
    await settle();
    expect(client.getValue('a', '')).toBe('three');
    stream.frame(valued('three'));
    stream.frame(valued('four'));
    await settle();
    expect(client.getValue('a', '')).toBe('four');
    expect(client.revision).toBe((before ?? 0) + 3);
  });

  test('polls that fall on nodes at different revisions never move back', async () => {
    const { client, server, platform } = harness({ mode: 'poll', pollIntervalMs: 5_000 });
    const seen: unknown[] = [];
    const script = [3, 5, 4, 5, 2, 6, 1, 7];
    server.onRest = () => {
      const revision = script.shift() ?? 7;
      server.revision = revision;
      server.flags = valued(revision);
      return server.rest();
    };
    client.onChange(({ flags }) => seen.push(flags.a?.value));
    await client.ready();
    await platform.advance(60_000);
    expect(seen).toEqual([3, 5, 6, 7]);
  });
});

describe('after a restore', () => {
  test('revisions that restarted lower are accepted after a minute of nothing else, and reported', async () => {
    const { client, server, platform, codes } = harness();
    server.revision = 100;
    server.flags = valued('lost');
    await client.ready();
    server.revision = 40;
    server.flags = valued('restored');
    server.latest.end();
    await platform.advance(55_000);
    expect(client.getValue('a', '')).toBe('lost');
    expect(client.status).toBe('stale');
    await platform.advance(15_000);
    expect(client.getValue('a', '')).toBe('restored');
    expect(client.status).toBe('ready');
    expect(client.revision).toBe(40);
    expect(codes()).toEqual(['stream_error', 'revision_reset']);
    server.change(valued('next'));
    await settle();
    expect(client.getValue('a', '')).toBe('next');
  });

  test.each([
    ['whose stream is blocked', { isBlocked: true }],
    ['that sends no first frame', { isBlocked: false }],
  ])('a client of a service %s believes the answers of REST', async (_, { isBlocked }) => {
    const { client, server, platform, codes } = harness();
    if (isBlocked) server.onStream = refuse;
    else server.sendsFirstFrame = false;
    server.revision = 100;
    server.flags = valued('lost');
    void client.ready();
    await platform.advance(2_000);
    expect(client.getValue('a', '')).toBe('lost');
    server.revision = 40;
    server.flags = valued('restored');
    if (!isBlocked) server.latest.end();
    await platform.advance(55_000);
    expect(client.getValue('a', '')).toBe('lost');
    await platform.advanceUntil(() => client.getValue('a', '') === 'restored', 95_000);
    expect(client.status).toBe('ready');
    expect(codes()).toContain('revision_reset');
  });

  test('answers of REST are not believed while a stream is open', async () => {
    const { client, server, platform } = harness();
    server.revision = 100;
    server.flags = valued('newest');
    await client.ready();
    server.onRest = () =>
      Response.json(
        { environment: 'production', flags: valued('old') },
        { headers: { 'X-Flags-Revision': '40' } },
      );
    for (let i = 0; i < 10; i++) {
      await client.refresh();
      server.latest.text(':\n');
      await platform.advance(15_000);
    }
    expect(client.getValue('a', '')).toBe('newest');
  });

  test('a single node that is far behind is not believed while others answer', async () => {
    const { client, server, platform } = harness();
    server.revision = 100;
    server.flags = valued('newest');
    await client.ready();
    let turn = 0;
    server.onStream = (request) => {
      const isBehind = turn++ % 2 === 0;
      server.revision = isBehind ? 40 : 100;
      server.flags = valued(isBehind ? 'old' : 'newest');
      return server.stream(request);
    };
    for (let i = 0; i < 40; i++) {
      server.latest.end();
      await platform.advance(10_000);
      expect(client.getValue('a', '')).toBe('newest');
    }
  });

  test('stale answers of a node that lost its listener are never believed', async () => {
    const { client, server, platform } = harness({ mode: 'poll', pollIntervalMs: 5_000 });
    server.revision = 100;
    server.flags = valued('newest');
    await client.ready();
    server.onRest = () => server.rest({ 'X-Flags-Stale': '300' });
    server.revision = 40;
    server.flags = valued('old');
    await platform.advance(10 * 60_000);
    expect(client.getValue('a', '')).toBe('newest');
    expect(client.status).toBe('stale');
  });
});

describe('a server that does not number its maps and sends no first frame', () => {
  function foreign() {
    const all = harness();
    all.server.revision = undefined;
    all.server.sendsFirstFrame = false;
    return all;
  }

  test('is asked by REST as soon as the stream is open', async () => {
    const { client, server, platform } = foreign();
    const ready = client.ready();
    await platform.advance(1);
    expect((await ready).status).toBe('ready');
    expect(server.count('/v1/flags')).toBe(1);
    server.change(valued(2));
    await settle();
    expect(client.getValue('a', 0)).toBe(2);
    expect(client.revision).toBeUndefined();
  });

  test('an answer asked for before the last frame came is dropped', async () => {
    const { client, server, platform } = foreign();
    let release: (response: Response) => void = () => {};
    server.onRest = () =>
      new Promise((resolve) => {
        release = resolve;
      });
    void client.ready();
    await platform.advance(1);
    const old = server.rest();
    server.change(valued('frame'));
    await settle();
    release(old);
    await platform.advance(1);
    expect(client.getValue('a', '')).toBe('frame');
    expect(client.status).toBe('ready');
  });

  test('what changed between two streams is found after each reconnection, even if REST fails at first', async () => {
    const { client, server, platform } = foreign();
    void client.ready();
    await platform.advance(1);
    server.flags = valued('missed');
    server.latest.end();
    server.onRest = refuse;
    await platform.advance(3_000);
    expect(client.getValue('a', '') as unknown).toBe('');
    server.onRest = () => server.rest();
    await platform.advanceUntil(() => client.getValue('a', '') === 'missed', 35_000);
  });

  test('a condition is only sent while the flags are those of the tag', async () => {
    const { client, server, platform } = foreign();
    const conditions: (string | null)[] = [];
    server.onRest = ({ headers }: SeenRequest) => {
      conditions.push(headers.get('If-None-Match'));
      return server.rest({ ETag: '"x"' });
    };
    void client.ready();
    await platform.advance(1);
    await client.refresh();
    server.change(valued(2));
    await settle();
    await client.refresh();
    expect(conditions).toEqual([null, '"x"', null]);
  });
});
