import { describe, expect, test } from 'bun:test';
import { settle } from './support/fake-platform.ts';
import { type Harness, harness, RECOVERY_MS } from './support/harness.ts';
import {
  blackHole,
  errorAnswer,
  refuse,
  ScriptedServer,
  type SeenRequest,
} from './support/scripted-server.ts';

const HTML = () =>
  new Response('<!doctype html><h1>Welcome</h1>', { headers: { 'Content-Type': 'text/html' } });
const EVENTS = { 'Content-Type': 'text/event-stream' };
const streamOf = (text: string) => () => new Response(text, { headers: EVENTS });

/** What a server may do to every request. */
const CAUSES: Readonly<Record<string, (request: SeenRequest) => Response | Promise<Response>>> = {
  'a refused connection': refuse,
  'a black hole': blackHole,
  '204': () => new Response(null, { status: 204 }),
  'HTML with 200': HTML,
  'a wrong content type': () => new Response('{}', { headers: { 'Content-Type': 'text/plain' } }),
  'a 404 page of a proxy': () => new Response('not here', { status: 404 }),
  '403': () => new Response('no', { status: 403 }),
  '500 in the specified shape': () => errorAnswer(500, 'internal_error'),
  '502 with HTML': () => new Response('<h1>Bad gateway</h1>', { status: 502 }),
  '429 without a delay': () => errorAnswer(429, 'rate_limited'),
  '400': () => errorAnswer(400, 'invalid_argument'),
  'a redirect': () => new Response(null, { status: 302, headers: { Location: 'https://evil.example/' } }),
  'a 304 nobody asked for': () => new Response(null, { status: 304 }),
  'an empty body': () => new Response('', { headers: EVENTS }),
  'a frame cut in half': streamOf('data: {"a":{"enab'),
  'invalid JSON': streamOf('data: {"a":\n\n'),
  'an array as frame': streamOf('data: [{"enabled":true}]\n\n'),
  'null as frame': streamOf('data: null\n\n'),
  'a wrapper as frame': streamOf('data: {"environment":"production","flags":{"a":{"enabled":false}}}\n\n'),
  'an error as frame': streamOf('data: {"error":"internal_error","message":"no","docs":"x"}\n\n'),
  'a body nested beyond reason': streamOf(
    `data: {"a":{"enabled":true,"value":${'['.repeat(60_000)}${']'.repeat(60_000)}}}\n\n`,
  ),
  'a fetch that throws something odd': () => {
    throw Symbol('odd');
  },
  // `Response`: what a wrong `fetch` returns in spite of its type.
  'an answer that is not a response': () => undefined as unknown as Response,
};

describe.each(Object.keys(CAUSES))('%s', (name) => {
  const cause = CAUSES[name] as (request: SeenRequest) => Response; // the key was read from that table

  test('on the first load: ready() resolves, reads answer, and the client recovers', async () => {
    const { client, server, platform, errors } = harness();
    server.fail(cause);
    const ready = client.ready();
    await platform.advance(5_000);
    const result = await ready;
    expect(['failed', 'timeout']).toContain(result.status);
    expect(result.error?.code).toBeTruthy();
    expect(client.isEnabled('a')).toBe(false);
    expect(client.getValue('a', 'x')).toBe('x');
    await platform.advance(120_000);
    expect(errors.length).toBeGreaterThan(0);
    server.heal();
    await recovered({ client, platform });
    expect(client.getValue('a', 0)).toBe(1);
  });

  test('on a running client: the last flags stay, and the client recovers', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    server.fail(cause);
    await platform.advance(120_000);
    expect(client.getValue('a', 0)).toBe(1);
    server.heal();
    server.flags = { a: { enabled: true, value: 2 } };
    server.revision = 2;
    expect(await platform.advanceUntil(() => client.getValue('a', 0) === 2, RECOVERY_MS)).toBeLessThanOrEqual(
      RECOVERY_MS,
    );
    await platform.advanceUntil(() => client.status === 'ready', RECOVERY_MS);
  });
});

async function recovered({ client, platform }: Pick<Harness, 'client' | 'platform'>): Promise<void> {
  await platform.advanceUntil(() => client.status === 'ready', RECOVERY_MS);
}

describe('reconnecting', () => {
  test('a server that stops for 30 minutes is found again within 35 s, and was asked sparingly', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    server.fail();
    await platform.advance(30 * 60_000);
    expect(client.isEnabled('a')).toBe(true);
    expect(server.count('/v1/stream')).toBeLessThan((30 * 60_000) / 15_000 + 12);
    server.heal();
    server.change({ a: { enabled: false } });
    await recovered({ client, platform });
    expect(client.isEnabled('a')).toBe(false);
  });

  test.each([0, 0.999])('with chance at %d the longest wait is 30 s', async (chance) => {
    const { client, server, platform } = harness();
    platform.chance = chance;
    await client.ready();
    server.fail();
    if (chance === 0) return expect(platform.delays.every((ms) => ms >= 0)).toBe(true);
    await platform.advance(10 * 60_000);
    server.heal();
    await recovered({ client, platform });
  });

  test('delays double while it fails and start again after a minute of health', async () => {
    const { client, server, platform } = harness();
    platform.chance = 0.999;
    await client.ready();
    const times: number[] = [];
    server.onStream = () => {
      times.push(platform.now());
      return refuse();
    };
    server.latest.break();
    await platform.advance(40_000);
    const gaps = times.map((time, i) => Math.round((time - (times[i - 1] ?? 0)) / 1000));
    expect(gaps).toEqual([1, 2, 4, 8, 16]);

    server.heal();
    await platform.advanceUntil(() => server.streams.length === 2, RECOVERY_MS);
    await platform.advance(10_000);
    server.latest.break();
    await settle();
    expect(platform.delays.some((ms) => ms > 20_000 && ms <= 30_000)).toBe(true); // not healthy for long enough
    await platform.advance(31_000);
    for (let i = 0; i < 7; i++) {
      await platform.advance(10_000);
      server.latest.text(':\n');
    }
    const before = server.count('/v1/stream');
    server.latest.break();
    await platform.advance(1_000);
    expect(server.count('/v1/stream')).toBe(before + 1);
  });

  test('Retry-After is obeyed, for the stream and for the polls in its place', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    server.fail(() => errorAnswer(429, 'rate_limited', { 'Retry-After': '90' }));
    await platform.advance(2_000);
    const before = server.requests.length;
    await platform.advance(86_000);
    expect(server.requests.length).toBe(before);
    server.heal();
    await platform.advance(10_000);
    expect(client.status).toBe('ready');
  });

  const ODD_ERRORS: Readonly<Record<string, () => unknown>> = {
    'without a message': () => Object.assign(new Error('x'), { message: undefined }),
    'whose message is an object': () => Object.assign(new Error('x'), { message: { detail: 'x' } }),
    'whose message is a symbol': () => Object.assign(new Error('x'), { message: Symbol('x') }),
    'whose stack throws': () => Object.defineProperty(new Error('x'), 'stack', { get: refuse }),
    'whose cause throws': () => Object.defineProperty(new Error('x'), 'cause', { get: refuse }),
    'that is a proxy': () => new Proxy(new Error('x'), { getPrototypeOf: refuse, get: refuse }),
  };
  describe.each(['stream', 'poll', 'manual'] as const)('in the mode %s', (mode) => {
    test.each(Object.keys(ODD_ERRORS))('an error %s is a failure like others', async (name) => {
      const { client, server, platform, codes } = harness({ mode });
      server.fail(() => {
        throw ODD_ERRORS[name]?.();
      });
      void client.ready();
      expect(await client.refresh()).toBe(false);
      await platform.advance(1_500);
      expect(codes()).toContain('network_error');
      server.heal();
      if (mode === 'manual') await client.refresh();
      await recovered({ client, platform });
    });
  });

  test('a Retry-After of years holds the polls in the stream’s place back for an hour at most', async () => {
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
    await platform.advance(2_000);
    expect(errors.at(-1)?.retryInMs).toBeGreaterThan(55_000);
    const before = server.requests.length;
    await platform.advance(55_000);
    expect(server.requests.length).toBe(before);
  });

  test.each([
    [401, 'invalid_api_key'],
    [404, 'environment_not_found'],
  ])('%d is asked again slowly, and heals when the cause is undone', async (status, code) => {
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

  test('only an unknown environment makes a 404 one that is asked again slowly', async () => {
    const { client, server, platform } = harness();
    server.fail(() => errorAnswer(404, 'not_found'));
    void client.ready();
    await platform.advance(600_000);
    server.heal();
    await recovered({ client, platform });
  });

  test('after a refusal, a refresh that succeeds opens the stream at once', async () => {
    const { client, server, platform } = harness();
    platform.chance = 0.999;
    server.fail(() => errorAnswer(401, 'invalid_api_key'));
    void client.ready();
    await platform.advance(20 * 60_000);
    server.heal();
    expect(await client.refresh()).toBe(true);
    await settle();
    expect(server.streams).toHaveLength(1);
    server.fail();
    await platform.advance(1_500); // one second, as after a first failure
    expect(server.count('/v1/stream')).toBeGreaterThan(1);
    await client.close();
  });

  test('in the mode poll, a refresh that succeeds after a refusal starts the polling again', async () => {
    const { client, server, platform } = harness({ mode: 'poll', pollIntervalMs: 10_000 });
    platform.chance = 0.999;
    server.fail(() => errorAnswer(401, 'invalid_api_key'));
    void client.ready();
    await platform.advance(20 * 60_000);
    server.heal();
    expect(await client.refresh()).toBe(true);
    await settle();
    const polls = server.count('/v1/flags');
    await platform.advance(25_000);
    expect(server.count('/v1/flags')).toBe(polls + 2);
    await client.refresh();
    expect(server.count('/v1/flags')).toBe(polls + 3);
  });

  test('a refresh of a client that is closed meanwhile opens nothing', async () => {
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

  test('a stream that is silent for three heartbeats is given up; comments and frames keep it', async () => {
    const { client, server, platform, errors } = harness();
    await client.ready();
    for (let i = 0; i < 10; i++) {
      await platform.advance(15_000);
      server.latest.text(':\n\n');
    }
    expect(server.count('/v1/stream')).toBe(1);
    await platform.advance(44_000);
    expect(server.count('/v1/stream')).toBe(1);
    await platform.advance(2_500);
    expect(server.count('/v1/stream')).toBe(2);
    expect(server.streams[0]?.isCancelled).toBe(true);
    expect(errors.map(({ message }) => message)).toEqual(['it fell silent']);
  });

  test('a drip of single bytes is no sign of life, a long frame on a slow line is', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    const drip = server.latest;
    for (let i = 0; i < 30; i++) {
      drip.text(i === 0 ? 'data: {' : ' ');
      await platform.advance(2_000);
    }
    expect(drip.isCancelled).toBe(true);
    const slow = server.latest;
    slow.text('data: {"b":{"enabled":true,"value":"');
    for (let i = 0; i < 30; i++) {
      slow.text('x'.repeat(2_000));
      await platform.advance(20_000);
    }
    slow.text('"}}\n\n');
    await settle();
    expect(slow.isCancelled).toBe(false);
    expect(client.getValue('b', '')).toHaveLength(60_000);
  });

  test('a server that drips its first frame is polled meanwhile', async () => {
    const { client, server, platform } = harness();
    server.sendsFirstFrame = false;
    const ready = client.ready();
    await platform.advance(1_500);
    expect((await ready).status).toBe('ready');
  });

  test('a stream whose headers never come is bridged by REST within seconds', async () => {
    const { client, server, platform } = harness();
    server.onStream = blackHole;
    const ready = client.ready();
    await platform.advance(1_100);
    expect((await ready).status).toBe('ready');
    server.change({ a: { enabled: true, value: 9 } });
    await platform.advanceUntil(() => client.getValue('a', 0) === 9, RECOVERY_MS);
  });

  test('a stream that is closed after a healthy minute is no failure, one closed at once is', async () => {
    const { client, server, platform, codes } = harness();
    await client.ready();
    for (let i = 0; i < 5; i++) {
      await platform.advance(14_000);
      server.latest.text(':\n');
    }
    server.latest.end();
    await platform.advance(1_500);
    expect(server.count('/v1/stream')).toBe(2);
    expect(codes()).toEqual([]);
    server.latest.end();
    await platform.advance(1_500);
    expect(codes()).toEqual(['stream_error']);
  });

  test('a reconnection time that the server sets is the first delay from then on', async () => {
    const { client, server, platform } = harness();
    platform.chance = 0.999;
    await client.ready();
    server.latest.text('retry: 10000\n\n');
    await settle();
    server.latest.break();
    await platform.advance(9_000);
    expect(server.count('/v1/stream')).toBe(1);
    await platform.advance(1_000);
    expect(server.count('/v1/stream')).toBe(2);
  });

  test('no REST request is made while the stream delivers', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    for (let i = 0; i < 40; i++) {
      await platform.advance(15_000);
      server.latest.text(':\n');
    }
    expect(server.count('/v1/flags')).toBe(0);
  });

  test('while there is no stream REST is asked every half minute, and no longer once there is one', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    server.onStream = refuse;
    server.latest.break();
    await platform.advance(10 * 60_000);
    const polls = server.count('/v1/flags');
    expect(polls).toBeGreaterThanOrEqual(18);
    expect(polls).toBeLessThanOrEqual(28);
    server.heal();
    await platform.advance(31_000);
    const after = server.count('/v1/flags');
    for (let i = 0; i < 10; i++) {
      await platform.advance(15_000);
      server.latest.text(':\n');
    }
    expect(server.count('/v1/flags')).toBe(after);
  });
});

describe('a damaged flag', () => {
  test('is left out and reported once; the others are delivered', async () => {
    const { client, server, errors } = harness();
    server.flags = {
      good: { enabled: true },
      bad: { enabled: 'yes' },
      pct: { enabled: true, rolloutPct: 'all' },
    };
    await client.ready();
    server.change({ ...server.flags, good: { enabled: false } });
    await settle();
    expect(Object.keys(client.all())).toEqual(['good']);
    expect(errors.map(({ code, flagKey }) => `${code} ${flagKey}`)).toEqual([
      'invalid_response bad',
      'invalid_response pct',
    ]);
  });

  test.each(['5', 150, -1, null, true, {}])(
    'is one whose rolloutPct is %p: it is on for nobody rather than for everybody',
    async (rolloutPct) => {
      const { client, server } = harness();
      server.flags = { good: { enabled: true }, a: { enabled: true, value: 2, rolloutPct } };
      await client.ready();
      expect(client.isEnabled('a', { targetingKey: 'ana' })).toBe(false);
      expect(client.getValue('a', 1)).toBe(1);
      expect(client.getState('a')).toBeUndefined();
    },
  );
});

describe('large and small', () => {
  test('a frame of 7 MB is read', async () => {
    const server = new ScriptedServer();
    server.flags = { big: { enabled: true, value: 'x'.repeat(7 * 1024 * 1024) } };
    const { client } = harness({}, server);
    await client.ready();
    expect(client.getValue('big', '')).toHaveLength(7 * 1024 * 1024);
  });

  test('a frame without an end is given up at 32 MB, and the client recovers', async () => {
    const { client, server, platform, codes } = harness();
    await client.ready();
    const piece = new TextEncoder().encode('x'.repeat(1024 * 1024));
    server.latest.text('data: {"a":"');
    for (let i = 0; i < 33; i++) server.latest.bytes(piece);
    await settle();
    await settle();
    expect(codes()).toEqual(['invalid_response']);
    await recovered({ client, platform });
  });

  test('an empty environment is a map', async () => {
    const { client, server } = harness();
    server.flags = {};
    expect((await client.ready()).status).toBe('ready');
    expect(client.evaluate('a', 1).errorCode).toBe('flag_not_found');
  });
});

test('ready() of a client that has failed waits for the next attempt, and finds a server that is back', async () => {
  const { client, server, platform } = harness();
  server.fail();
  const first = client.ready();
  await platform.advance(1_500);
  expect((await first).status).toBe('failed');
  let isOver = false;
  const second = client.ready();
  void second.then(() => {
    isOver = true;
  });
  await platform.advance(100);
  expect(isOver).toBe(false);
  server.heal();
  await platform.advance(4_000);
  expect((await second).status).toBe('ready');
});

test('ready() of a client that has failed waits as long as it is told', async () => {
  const { client, server, platform } = harness();
  server.fail();
  void client.ready();
  await platform.advance(1_500);
  const limited = client.ready({ timeoutMs: 10 });
  await platform.advance(10);
  expect((await limited).status).toBe('failed');
});
