import { afterEach, describe, expect, jest, test } from 'bun:test';
import { type FlagState, OFREP_ERROR_STATUS, ofrepEvent, parseFlagState } from '@halyard/protocol';
import evaluation from '../../../conformance/fixtures/evaluation.json';
import bulk from '../../../conformance/fixtures/ofrep-bulk.json';
import refusals from '../../../conformance/fixtures/ofrep-errors.json';
import { createFlagsHandler, type FlagsHandler } from '../src/handler.ts';
import { createTestClient } from '../src/testing.ts';
import { harness } from './support/harness.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  jest.useRealTimers();
  for (const close of closers.splice(0)) await close();
});

const FLAGS: Record<string, FlagState> = {
  plain: { enabled: true },
  text: { enabled: true, value: 'hello' },
  half: { enabled: true, rolloutPct: 50 },
  secret: { enabled: true, value: 'x' },
};

function make(options: Partial<Parameters<typeof createFlagsHandler>[0]> = {}, flags = FLAGS) {
  const client = createTestClient({ environment: 'production', flags });
  const handler = createFlagsHandler({ client, ...options });
  closers.push(() => handler.close());
  return { client, handler };
}

/** A request of a provider whose base address is `https://app.example/flags`. */
function ask(path: string, context: unknown = {}, headers: Record<string, string> = {}) {
  return new Request(`https://app.example/flags${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
    body: typeof context === 'string' ? context : JSON.stringify({ context }),
  });
}

/** The members of OFREP's bodies that tests look at one by one. */
interface Body {
  readonly flags: readonly { readonly key: string }[];
  readonly eventStreams: readonly [{ readonly endpoint: { readonly requestUri: string } }];
  readonly metadata?: object;
  readonly errorCode?: string;
  readonly errorDetails?: string;
}

async function bodyOf(response: Response): Promise<Body> {
  return (await response.json()) as Body; // each test checks what it reads
}

const BULK = '/ofrep/v1/evaluate/flags';
const EVENTS = '/ofrep/v1/stream';

const get = (path: string, init?: RequestInit) => new Request(`https://app.example/flags${path}`, init);

async function read(handler: FlagsHandler, request: Request) {
  const response = await handler(request);
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  const next = async () => {
    const piece = await reader?.read();
    return !piece || piece.done ? undefined : decoder.decode(piece.value);
  };
  return { response, next, cancel: async () => await reader?.cancel() };
}

describe('the table of cases', () => {
  test.each(evaluation.cases)('$name', async ({ flagKey, state, targetingKey, expected }) => {
    const parsed = parseFlagState(state);
    const { handler } = make({}, parsed ? { [flagKey]: parsed } : {});
    const context = targetingKey === undefined ? { plan: 'gold' } : { targetingKey };
    const one = await handler(ask(`${BULK}/${encodeURIComponent(flagKey)}`, context));
    const body = await bodyOf(one);
    expect(body).toMatchObject({ key: flagKey, ...expected.ofrep } as never);
    // What is absent counts as well.
    expect('value' in body).toBe('value' in expected.ofrep);
    expect('reason' in body).toBe('reason' in expected.ofrep);
    const { errorCode } = expected.ofrep as { errorCode?: keyof typeof OFREP_ERROR_STATUS };
    expect(one.status).toBe(errorCode ? OFREP_ERROR_STATUS[errorCode] : 200);
    const all = await bodyOf(await handler(ask(BULK, context)));
    expect(all.flags).toEqual((parsed ? [body] : []) as never);
  });
});

describe('one flag', () => {
  test('has its circumstances in its metadata', async () => {
    const { handler } = make();
    const response = await handler(ask(`${BULK}/half`, { targetingKey: 'ana' }));
    expect((await bodyOf(response)).metadata).toEqual({
      environment: 'production',
      enabled: true,
      rolloutPct: 50,
    });
    expect(response.headers.get('X-Flags-Revision')).toBe('1');
    expect(response.headers.get('Content-Type')).toStartWith('application/json');
  });

  test('does not exist for callers it is not exposed to', async () => {
    const { handler } = make({ expose: (key) => key !== 'secret' });
    const response = await handler(ask(`${BULK}/secret`));
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ key: 'secret', errorCode: 'FLAG_NOT_FOUND' });
  });

  test('a key that is a name of every object is a flag that does not exist', async () => {
    const { handler } = make();
    for (const key of ['__proto__', 'constructor', 'toString'])
      expect(await (await handler(ask(`${BULK}/${key}`))).json()).toMatchObject({
        key,
        errorCode: 'FLAG_NOT_FOUND',
      });
  });
});

describe('all flags', () => {
  test.each(bulk.cases)('are answered as on the service: $name', async ({ targetingKey, expected }) => {
    const { handler } = make({}, bulk.flags);
    const { flags } = await bodyOf(await handler(ask(BULK, { targetingKey })));
    const answers = flags.map((flag) => ({ ...flag, metadata: undefined, errorDetails: undefined }));
    expect(answers.toSorted((a, b) => (a.key < b.key ? -1 : 1))).toEqual(expected as never);
  });

  test('come in the order of the map, with the address of the event stream', async () => {
    const { handler } = make();
    const response = await handler(ask(BULK, {}));
    expect(response.status).toBe(200);
    const body = await bodyOf(response);
    expect(body.flags.map(({ key }) => key)).toEqual(Object.keys(FLAGS));
    expect(body.flags[2]).toMatchObject({ key: 'half', errorCode: 'TARGETING_KEY_MISSING' });
    expect(body.metadata).toEqual({ environment: 'production', revision: 1 });
    expect(body.eventStreams).toEqual([
      { type: 'sse', endpoint: { requestUri: '/flags/ofrep/v1/stream' }, inactivityDelaySec: 10 },
    ] as never);
  });

  test('lead to the public path where something in front of the handler changes paths', async () => {
    const { handler } = make({ publicPath: '/shop/flags/' });
    const { eventStreams } = await bodyOf(await handler(ask(BULK)));
    expect(eventStreams[0].endpoint).toEqual({ requestUri: '/shop/flags/ofrep/v1/stream' });
  });

  test('the address of the event stream never names another host', async () => {
    const { handler } = make();
    const answer = await handler(
      new Request('https://app.example//evil.example/ofrep/v1/evaluate/flags', {
        method: 'POST',
        body: '{}',
      }),
    );
    const [{ endpoint }] = (await bodyOf(answer)).eventStreams;
    expect(new URL(endpoint.requestUri, 'https://app.example').host).toBe('app.example');
  });

  test('are only those that are exposed, and an exception exposes nothing', async () => {
    const { handler } = make({ expose: (key) => key !== 'secret' });
    expect(await (await handler(ask(BULK))).text()).not.toContain('secret');
    const { handler: broken } = make({
      expose: () => {
        throw new Error('the rules are at 10.0.0.5');
      },
    });
    const response = await broken(ask(BULK));
    expect(response.status).toBe(500);
    expect(await response.json()).toMatchObject({
      error: 'internal_error',
      errorDetails: expect.not.stringContaining('10.0.0.5'),
    });
  });

  test('are not sent again to a caller who has the same answer', async () => {
    const { client, handler } = make();
    const tag = (await handler(ask(BULK, { targetingKey: 'ana' }))).headers.get('ETag') ?? '';
    const again = (header: string, targetingKey = 'ana', query = '') =>
      handler(ask(`${BULK}${query}`, { targetingKey, plan: 'gold' }, { 'If-None-Match': header }));
    const unchanged = await again(tag);
    expect(unchanged.status).toBe(304);
    expect(unchanged.headers.get('ETag')).toBe(tag);
    expect(await unchanged.text()).toBe('');
    expect((await again(`"other", W/${tag}`)).status).toBe(304);
    expect((await again('*')).status).toBe(304);
    expect((await again(tag, 'ana', '?flagConfigEtag=%22x%22&flagConfigLastModified=1')).status).toBe(304);
    expect((await again('"other"')).status).toBe(200);
    expect((await handler(ask(BULK, {}, { 'If-None-Match': tag }))).status).toBe(200); // half is an error
    client.set('plain', false);
    expect((await again(tag)).status).toBe(200);
  });
});

test('a caller who has heard of a newer revision elsewhere does not get the old flags', async () => {
  const { client, server } = harness();
  await client.ready();
  const handler = createFlagsHandler({ client });
  closers.push(() => handler.close());
  server.revision = 6;
  server.flags = { newest: { enabled: true } };
  const loads = () => server.requests.filter(({ path }) => path === '/v1/flags').length;
  const before = loads();
  const old = await bodyOf(await handler(ask(`${BULK}?flagConfigEtag=%221%22`)));
  expect(old.flags).toEqual([expect.objectContaining({ key: 'a' })]);
  expect(loads()).toBe(before);
  const current = await bodyOf(await handler(ask(`${BULK}?flagConfigEtag=%226%22`)));
  expect(current.flags).toEqual([expect.objectContaining({ key: 'newest' })]);
  await handler(ask(`${BULK}?flagConfigEtag=%22999%22`));
  expect(loads()).toBe(before + 1);
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

test('may be mounted below a path that looks like OFREP', async () => {
  const { handler } = make();
  const mounted = new Request('https://app.example/ofrep/flags/v1/flags?env=production');
  expect((await handler(mounted)).status).toBe(200);
});

describe('refusals, by the table of the service', () => {
  // The handler serves one environment, so its callers need to name none.
  const table = refusals.cases.filter(({ name }) => !name.startsWith('no environment'));
  test.each(table)('$name', async ({ request, expected }) => {
    const { handler } = make(
      {
        authorize: ({ headers }) => headers.has('Authorization'),
        docsUrl: 'https://flags.example/docs',
      },
      refusals.flags,
    );
    const { body, bodyBase64, bodyBytes } = request as {
      body?: string;
      bodyBase64?: string;
      bodyBytes?: number;
    };
    const padded = bodyBytes === undefined ? undefined : `{}${' '.repeat(bodyBytes - 2)}`;
    const sent = bodyBase64 ? new Uint8Array(Buffer.from(bodyBase64, 'base64')) : (body ?? padded);
    const response = await handler(
      new Request(`https://app.example/flags${request.path}`, {
        method: request.method,
        headers: request.withKey ? { Authorization: 'Bearer session' } : {},
        ...(sent !== undefined && { body: sent }),
      }),
    );
    const { status, members, ...rest } = expected;
    const answer = (await response.json()) as object;
    expect({ status: response.status, members: Object.keys(answer).sort() }).toEqual({
      status,
      members: members.toSorted(),
    });
    expect(answer).toMatchObject(rest as object);
  });

  test('a body that is not UTF-8, and one that breaks off', async () => {
    const { handler } = make();
    const bodies = [
      new Uint8Array([0x7b, 0xff, 0x7d]),
      new ReadableStream({ pull: (controller) => controller.error(new Error('gone')) }),
    ];
    for (const body of bodies) {
      const request = new Request(`https://app.example${BULK}`, { method: 'POST', body });
      expect(await (await handler(request)).json()).toMatchObject({ errorCode: 'PARSE_ERROR' });
    }
  });

  test.each([
    [get(BULK), 405, 'POST'],
    [get(`${BULK}/plain`), 405, 'POST'],
    [ask(EVENTS), 405, 'GET, HEAD'],
    [ask('/v1/flags?env=production'), 405, 'GET, HEAD'],
  ])('another method', async (request, status, allow) => {
    const response = await make().handler(request);
    expect([response.status, response.headers.get('Allow')]).toEqual([status, allow]);
    expect(await response.json()).toMatchObject({ error: 'method_not_allowed' });
  });

  test('another environment, in the address or the header', async () => {
    const { handler } = make();
    const ours = await handler(ask(`/environments/production${BULK}`));
    expect(ours.status).toBe(200);
    expect((await bodyOf(ours)).eventStreams[0].endpoint.requestUri).toBe(
      '/flags/environments/production/ofrep/v1/stream',
    );
    expect((await handler(ask(BULK, {}, { 'X-Flags-Environment': 'production' }))).status).toBe(200);
    for (const request of [
      ask(`/environments/staging${BULK}`),
      ask(BULK, {}, { 'X-Flags-Environment': 'staging' }),
      get('/environments/staging/ofrep/v1/stream'),
    ]) {
      const response = await handler(request);
      expect(response.status).toBe(404);
      expect(await response.json()).toMatchObject({
        error: 'environment_not_found',
        errorDetails: expect.any(String),
      });
    }
  });

  test('no flags yet', async () => {
    const { client, handler } = make({}, {});
    client.fail();
    const response = await handler(ask(BULK));
    expect([response.status, response.headers.get('Retry-After')]).toEqual([500, '1']);
    expect(await response.json()).toMatchObject({
      error: 'internal_error',
      errorDetails: expect.any(String),
    });
  });
});

test('the manifest has the type of each flag that is exposed', async () => {
  const values = { yes: true, text: 'a', whole: 3, part: 2.5, list: [1], record: { a: 1 }, nothing: null };
  const states = Object.entries(values).map(([key, value]) => [key, { enabled: false, value }] as const);
  const { handler } = make(
    { expose: (key) => key !== 'secret' },
    { plain: { enabled: true }, secret: { enabled: true }, ...Object.fromEntries(states) },
  );
  const response = await handler(get('/openfeature/v0/manifest'));
  expect(response.headers.get('X-Manifest-Capabilities')).toBe('read');
  expect(await response.json()).toEqual({
    flags: [
      { key: 'list', type: 'object', defaultValue: [] },
      { key: 'part', type: 'float', defaultValue: 0 },
      { key: 'plain', type: 'boolean', defaultValue: false },
      { key: 'record', type: 'object', defaultValue: {} },
      { key: 'text', type: 'string', defaultValue: '' },
      { key: 'whole', type: 'integer', defaultValue: 0 },
      { key: 'yes', type: 'boolean', defaultValue: false },
    ],
  });
  expect((await handler(get('/environments/production/openfeature/v0/manifest'))).status).toBe(200);
  const refused = await handler(get('/environments/staging/openfeature/v0/manifest'));
  expect(refused.status).toBe(404);
  expect(await refused.json()).toEqual({
    error: { message: expect.any(String), status: 404, code: 'environment_not_found' },
  });
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
