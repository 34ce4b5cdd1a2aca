import { describe, expect, test } from 'bun:test';
import '../src/usage.ts'; // so that loading it takes no time
import { HalyardProvider } from '../src/openfeature/server.ts';
import type { Platform } from '../src/platform.ts';
import { settle } from './support/fake-platform.ts';
import { type Harness, harness } from './support/harness.ts';
import { refuse, ScriptedServer, type SeenRequest } from './support/scripted-server.ts';

const ASKING = { 'X-Flags-Usage': '60' };
const FLAGS = {
  a: { enabled: true, value: 1 },
  b: { enabled: false },
  half: { enabled: true, rolloutPct: 50 },
};

/** A server that asks for reports, and how it answers them. */
class UsageServer extends ScriptedServer {
  readonly reports: { readonly request: SeenRequest; readonly body: unknown }[] = [];
  answer: () => Response | Promise<Response> = () => new Response(null, { status: 204 });

  constructor(asking: Record<string, string> = ASKING) {
    super();
    this.flags = FLAGS;
    this.onStream = (request) => this.stream(request, asking);
    this.onRest = (request) => {
      if (request.url.pathname !== '/usage/v1') return this.rest(asking);
      this.reports.push({ request, body: JSON.parse(String(request.init.body)) });
      return this.answer();
    };
  }

  /** The flags of each report. */
  get counts(): unknown[] {
    return this.reports.map(({ body }) => (body as { flags: unknown }).flags);
  }
}

function readSome({ client }: Pick<Harness, 'client'>): void {
  client.isEnabled('a');
  client.getValue('a', 0);
  client.evaluate('b', false);
}

const READ = { a: { on: 2, off: 0 }, b: { on: 0, off: 1 } };

describe('reports of reads', () => {
  test('a server that asks gets counts once a minute, and nothing when nothing was read', async () => {
    const server = new UsageServer();
    const { client, platform, codes } = harness({ mode: 'poll' }, server);
    await client.ready();
    await settle();
    readSome({ client });
    client.isEnabled('half', { targetingKey: 'user-1' });
    for (const key of ['absent', '__proto__', 'constructor']) client.isEnabled(key);
    client.getState('half');
    client.all();
    await platform.advance(59_999);
    expect(server.reports).toEqual([]);
    await platform.advance(6_001);
    const [{ request, body } = { request: undefined, body: undefined }] = server.reports;
    const half = client.isEnabled('half', { targetingKey: 'user-1' });
    expect(body).toEqual({
      env: 'production',
      flags: { ...READ, half: { on: Number(half), off: Number(!half) } },
    });
    expect(request?.init).toMatchObject({ method: 'POST', redirect: 'manual' });
    expect(request?.headers.get('X-Service-Key')).toStartWith('proj_live_');
    expect(JSON.stringify(body)).not.toContain('user-1');
    await platform.advance(66_000);
    expect(server.counts).toHaveLength(2);
    await platform.advance(200_000);
    expect([server.counts.length, codes()]).toEqual([2, []]);
  });

  test('a client reports nothing to a server that does not ask, and nothing with `reportUsage: false`', async () => {
    const silent = new UsageServer({});
    const refused = new UsageServer();
    for (const [server, options] of [
      [silent, {}],
      [refused, { reportUsage: false }],
    ] as const) {
      const { client, platform } = harness(options, server);
      await client.ready();
      readSome({ client });
      await platform.advance(200_000);
      await client.close();
      expect(server.reports).toEqual([]);
    }
  });

  test('clients of one connection report together', async () => {
    const server = new UsageServer();
    const { client, another, platform } = harness({}, server);
    const [second, quiet] = [another(), another({ reportUsage: false })];
    await client.ready();
    await second.ready();
    for (const each of [client, second, quiet]) each.isEnabled('a');
    await platform.advance(66_000);
    expect(server.counts).toEqual([{ a: { on: 2, off: 0 } }]);
  });

  test('an open stream can ask with a comment', async () => {
    const server = new UsageServer({});
    const { client, platform } = harness({}, server);
    await client.ready();
    // Other servers, and proxies, keep a stream open with texts of their own.
    server.latest.text(': keep-alive\n\n:\n\n: still here\n\n');
    await settle();
    readSome({ client });
    await platform.advance(200_000);
    expect(server.reports).toEqual([]);
    server.latest.text(': usage 120\n\n');
    await settle();
    readSome({ client });
    await platform.advance(119_000);
    expect(server.counts).toEqual([]);
    await platform.advance(15_000);
    expect(server.counts).toEqual([READ]);
  });

  test('counts that were not accepted are sent with the next report', async () => {
    const server = new UsageServer();
    const { client, platform, codes } = harness({ mode: 'poll' }, server);
    await client.ready();
    const answers = [
      () => new Response(null, { status: 429 }),
      refuse,
      () => new Response(null, { status: 204 }),
    ];
    server.answer = () => (answers.shift() ?? refuse)();
    for (let round = 0; round < 3; round++) {
      readSome({ client });
      await platform.advance(66_000);
    }
    expect(server.counts).toEqual([
      READ,
      { a: { on: 4, off: 0 }, b: { on: 0, off: 2 } },
      { a: { on: 6, off: 0 }, b: { on: 0, off: 3 } },
    ]);
    expect(codes()).toEqual([]);
  });

  test('reads during a report that fails are added to its counts', async () => {
    const server = new UsageServer();
    const { client, platform } = harness({ mode: 'poll' }, server);
    await client.ready();
    const { promise, resolve } = Promise.withResolvers<Response>();
    server.answer = () => promise;
    readSome({ client });
    await platform.advance(66_000);
    readSome({ client });
    server.answer = () => new Response(null, { status: 204 });
    resolve(new Response(null, { status: 503 }));
    await platform.advance(66_000);
    expect(server.counts).toEqual([READ, { a: { on: 4, off: 0 }, b: { on: 0, off: 2 } }]);
  });

  test('a refusal ends the reports until the server asks again', async () => {
    const server = new UsageServer();
    const { client, platform } = harness({}, server);
    await client.ready();
    server.answer = () => new Response(null, { status: 404 });
    readSome({ client });
    await platform.advance(66_000);
    readSome({ client });
    await platform.advance(200_000);
    expect(server.counts).toHaveLength(1);
    await client.refresh();
    server.answer = () => new Response(null, { status: 204 });
    readSome({ client });
    await platform.advance(66_000);
    expect(server.counts).toEqual([READ, READ]);
  });

  test('a client sends what is left when it is closed, and waits a second at most', async () => {
    const server = new UsageServer();
    const { client } = harness({}, server);
    await client.ready();
    readSome({ client });
    await client.close();
    expect(server.counts).toEqual([READ]);

    const slow = new UsageServer();
    const second = harness({}, slow);
    await second.client.ready();
    readSome(second);
    slow.answer = () => new Promise(() => {}) as never;
    let isClosed = false;
    void second.client.close().then(() => {
      isClosed = true;
    });
    await second.platform.advance(900);
    expect([slow.counts.length, isClosed]).toEqual([1, false]);
    await second.platform.advance(101);
    expect(isClosed).toBe(true);
  });

  test('a client that is closed during a report waits a second at most too', async () => {
    const server = new UsageServer();
    const { client, platform } = harness({ requestTimeoutMs: 60_000 }, server);
    await client.ready();
    readSome({ client });
    server.answer = () => new Promise(() => {}) as never;
    await platform.advance(66_000);
    readSome({ client });
    let isClosed = false;
    void client.close().then(() => {
      isClosed = true;
    });
    await platform.advance(1_001);
    expect([server.counts.length, isClosed]).toEqual([1, true]);
  });

  test('in the mode manual, counts are sent with a load', async () => {
    const server = new UsageServer();
    const { client, platform } = harness({ mode: 'manual' }, server);
    await client.ready();
    await settle();
    readSome({ client });
    await platform.advance(59_000);
    await client.refresh();
    expect([server.counts, platform.pending]).toEqual([[], 0]);
    await platform.advance(1_000);
    await client.refresh();
    await settle();
    expect(server.counts).toEqual([READ]);
  });

  test('many flags are reported in several parts', async () => {
    const server = new UsageServer();
    const keys = Array.from({ length: 1_001 }, (_, i) => `flag-${i}`);
    server.flags = Object.fromEntries(keys.map((key) => [key, { enabled: true }]));
    const { client } = harness({}, server);
    await client.ready();
    for (const key of keys) client.isEnabled(key);
    await client.close();
    expect(server.counts.map((flags) => Object.keys(flags as object).length)).toEqual([1_000, 1]);
  });

  test("OpenFeature's reads are counted once", async () => {
    const server = new UsageServer();
    const { client } = harness({}, server);
    await client.ready();
    const provider = new HalyardProvider(client);
    await provider.resolveNumberEvaluation('a', 0, {});
    await provider.resolveBooleanEvaluation('b', true, {});
    await provider.resolveBooleanEvaluation('half', true, {});
    await provider.resolveBooleanEvaluation('absent', true, {});
    await client.close();
    expect(server.counts).toEqual([{ a: { on: 1, off: 0 }, b: { on: 0, off: 1 } }]);
  });
});

test('every call of close() waits for the last report', async () => {
  const server = new UsageServer();
  const { client } = harness({}, server);
  await client.ready();
  client.isEnabled('a');
  let isSent = false;
  server.answer = async () => {
    await settle();
    isSent = true;
    return new Response(null, { status: 204 });
  };
  void client.close();
  await client.close();
  expect(isSent).toBe(true);
});

test('the wait for the last report keeps the process alive until it is over', async () => {
  const { client, platform } = harness({}, new UsageServer());
  const held: number[] = [];
  const { setTimer } = platform;
  const noting: Platform['setTimer'] = (callback, ms, isHeld) => {
    if (isHeld) held.push(ms);
    return setTimer(callback, ms);
  };
  Object.assign(platform, { setTimer: noting });
  await client.ready();
  client.isEnabled('a');
  void client.close();
  await settle();
  expect(held.at(-1)).toBe(1_000);
});
