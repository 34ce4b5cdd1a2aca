import { describe, expect, test } from 'bun:test';
import { settle } from './support/fake-platform.ts';
import { harness, RECOVERY_MS, recovered } from './support/harness.ts';
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
  '503 with a delay': () => new Response('busy', { status: 503, headers: { 'Retry-After': '20' } }),
  '429 without a delay': () => errorAnswer(429, 'rate_limited'),
  '400': () => errorAnswer(400, 'invalid_argument'),
  'a redirect': () => new Response(null, { status: 302, headers: { Location: 'https://evil.example/' } }),
  'a 304 without a condition': () => new Response(null, { status: 304 }),
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
  // `Response`: a wrong `fetch` returns something else in spite of its type.
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
    'is one whose rolloutPct is %p: it is on for no one rather than for everyone',
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
  test('a value nested 20,000 deep is left out, and holds back no other flag', async () => {
    const server = new ScriptedServer();
    let deep: unknown = 1;
    for (let i = 0; i < 20_000; i++) deep = [deep];
    const text = `{"deep":{"enabled":true,"value":${'['.repeat(20_000)}1${']'.repeat(20_000)}},"a":{"enabled":true}}`;
    server.onRest = () => new Response(`{"flags":${text}}`);
    const { client, codes } = harness(
      { mode: 'manual', bootstrap: { deep: { enabled: true, value: deep as never } } },
      server,
    );
    await client.refresh();
    expect(Object.keys(client.all())).toEqual(['a']);
    expect(codes()).toEqual(['invalid_response']);
  });

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
