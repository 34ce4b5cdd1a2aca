import { afterEach, describe, expect, test } from 'bun:test';
import { OFREP_ERROR_STATUS, parseFlagState } from '@halyard/protocol';
import evaluation from '../../../conformance/fixtures/evaluation.json';
import bulk from '../../../conformance/fixtures/ofrep-bulk.json';
import refusals from '../../../conformance/fixtures/ofrep-errors.json';
import { createFlagsHandler } from '../src/handler.ts';
import { ask, BULK, bodyOf, closeAll, closers, EVENTS, FLAGS, get, make } from './support/handlers.ts';
import { harness } from './support/harness.ts';

afterEach(closeAll);

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
