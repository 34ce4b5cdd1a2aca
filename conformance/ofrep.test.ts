import { expect, test } from 'bun:test';
import { FLAG_KEY_PATTERN, rolloutBucket } from '@halyard/protocol';
import evaluation from './fixtures/evaluation.json';
import refusals from './fixtures/ofrep-errors.json';
import rollout from './fixtures/rollout.json';
import { evaluateOne } from './ofrep.ts';
import { conformance } from './subject.ts';
import { World } from './world.ts';

/** What a case of the table answers, written out. */
function answerOf({ flagKey, state, expected: { ofrep } }: (typeof evaluation.cases)[number]): object {
  const { enabled, rolloutPct } = state ?? {};
  const metadata = { environment: 'production', enabled, rolloutPct };
  if (ofrep.errorCode === undefined) return { key: flagKey, metadata, ...ofrep };
  return { key: flagKey, errorDetails: expect.any(String), ...(state && { metadata }), ...ofrep };
}

const STATUS: Record<string, number> = { TARGETING_KEY_MISSING: 400, FLAG_NOT_FOUND: 404 };

conformance('15. OFREP', (subject) => {
  test('S15.1 S15.4 S15.5 S15.6 a flag answers as the table of evaluations says', async () => {
    const world = await World.make(subject(), {});
    const cases = evaluation.cases.filter(({ flagKey, state }) => !state || FLAG_KEY_PATTERN.test(flagKey));
    expect(cases.length).toBeGreaterThan(100);
    for (const each of cases) {
      const { name, flagKey, state, targetingKey, expected } = each;
      if (state) await world.put(flagKey, state);
      // Nothing is written to the other environment.
      const answer = await evaluateOne(world, flagKey, targetingKey, state ? 'production' : 'staging');
      const status = STATUS[expected.ofrep.errorCode ?? ''] ?? 200;
      expect({ name, status: answer.status, body: await answer.json() }).toEqual({
        name,
        status,
        body: answerOf(each),
      });
      expect(answer.headers.get('Content-Type')).toBe('application/json');
    }
  });

  test('S15.4 a rollout includes the buckets below its percentage', async () => {
    const world = await World.make(subject(), {});
    const cases = rollout.buckets.filter(({ flagKey }) => FLAG_KEY_PATTERN.test(flagKey));
    expect(cases.length).toBeGreaterThan(8);
    for (const { flagKey, targetingKey, bucket } of cases) {
      expect(rolloutBucket(flagKey, targetingKey)).toBe(bucket);
      for (const [variant, rolloutPct] of [
        ['off', bucket / 1000],
        ['on', (bucket + 1) / 1000],
      ] as const) {
        await world.put(flagKey, { enabled: true, rolloutPct });
        const answer = await (await evaluateOne(world, flagKey, targetingKey)).json();
        expect(answer).toMatchObject({ reason: 'SPLIT', variant, value: variant === 'on' });
      }
    }
  });

  test('S15.1 a number as targeting key counts as its text', async () => {
    const world = await World.make(subject(), { half: { enabled: true, rolloutPct: 50 } });
    const texts = new Set<string>();
    for (const targetingKey of [0, 1, 2, 3, 4, 5, -7, 1.5, 1e21, 9007199254740991]) {
      const text = await (await evaluateOne(world, 'half', targetingKey)).text();
      expect(text).toBe(await (await evaluateOne(world, 'half', String(targetingKey))).text());
      texts.add(text);
    }
    expect(texts.size).toBe(2); // on for some, off for others
  });

  test('S15.5 a value travels as it was written', async () => {
    const world = await World.make(subject());
    for (const value of [
      '1.0',
      '-0',
      '1e2',
      '12345678901234567890',
      '"\\u00e9\\/"',
      '{"b":1.50,"a":[]}',
      'null',
    ]) {
      await world.putText('written', `{"enabled":true,"value":${value}}`);
      const text = await (await evaluateOne(world, 'written')).text();
      expect(text).toContain(`"value":${value}`);
      expect(text).toEndWith('}');
    }
  });

  test('S15.2 the key comes in any of three headers, and in several only if they agree', async () => {
    const world = await World.make(subject(), { a: { enabled: true } });
    const other = await world.management.createKey(world.project, ['production']);
    const ask = async (headers: Record<string, string>) => {
      const url = `${world.url}/environments/production/ofrep/v1/evaluate/flags/a`;
      return await fetch(url, { method: 'POST', body: '{}', headers });
    };
    const { key } = world;

    for (const headers of [
      { 'X-Service-Key': key },
      { 'X-API-Key': key },
      { Authorization: `Bearer ${key}` },
      { Authorization: `bearer ${key}` },
      { Authorization: `Bearer ${key}`, 'X-API-Key': key, 'X-Service-Key': key },
      // What a proxy in front asked for is no key.
      { Authorization: 'Basic dXNlcjpwYXNz', 'X-API-Key': key },
    ])
      expect([headers, (await ask(headers)).status]).toEqual([headers, 200]);

    for (const headers of [
      {},
      { Authorization: key },
      { Authorization: 'Bearer ' },
      { 'X-API-Key': 'nonsense' },
      { 'X-API-Key': key, 'X-Service-Key': other.key },
      { Authorization: `Bearer ${other.key}`, 'X-Service-Key': key },
      { Authorization: `Bearer ${key}`, 'X-API-Key': '' },
      { Authorization: `Bearer ${key}`, 'X-API-Key': 'nonsense' },
    ] as Record<string, string>[]) {
      const answer = await ask(headers);
      expect([headers, answer.status]).toEqual([headers, 401]);
      expect(await answer.json()).toMatchObject({ error: 'invalid_api_key', errorCode: 'GENERAL', key: 'a' });
    }
  });

  test('S15.3 the environment comes from the address, a header, or the key', async () => {
    const world = await World.make(subject(), { a: { enabled: true } });
    const { key: single } = await world.management.createKey(world.project, ['production']);
    const ask = async (prefix: string, headers: Record<string, string>) =>
      await world.fetch(`${prefix}/ofrep/v1/evaluate/flags/a`, { method: 'POST', body: '{}', headers });
    const inProduction = { metadata: { environment: 'production' } };
    for (const answer of [
      await ask('/environments/production', {}),
      await ask('', { 'X-Flags-Environment': 'production' }),
      await ask('', { 'X-Service-Key': single }),
      await ask('', { 'X-Service-Key': single, 'X-Flags-Environment': '' }),
      // The address is the more visible of the two.
      await ask('/environments/production', { 'X-Flags-Environment': 'staging' }),
    ])
      expect(await answer.json()).toMatchObject(inProduction);

    const unnamed = await ask('', {});
    expect(unnamed.status).toBe(400);
    const { errorDetails, ...body } = (await unnamed.json()) as { errorDetails: string };
    expect(body).toEqual({ key: 'a', errorCode: 'GENERAL' } as never);
    expect(errorDetails).toContain('/environments/');
    expect(errorDetails).toContain('X-Flags-Environment');

    for (const answer of [
      await ask('/environments/nowhere', {}),
      await ask('/environments/staging', { 'X-Service-Key': single }),
      await ask('', { 'X-Flags-Environment': 'nowhere' }),
    ]) {
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: 'environment_not_found', errorCode: 'GENERAL' });
    }
  });

  test('S15.9 a refusal has the body that OFREP gives it', async () => {
    const world = await World.make(subject(), refusals.flags);
    for (const { name, request, expected } of refusals.cases) {
      const answer = await fetch(`${world.url}${request.path}`, {
        method: request.method,
        headers: request.withKey ? { 'X-API-Key': world.key } : {},
        ...(request.method === 'POST' && { body: requestBody(request) }),
      });
      // Every refusal is an object.
      const body = (await answer.json()) as Record<string, unknown>;
      expect({ name, status: answer.status, body }).toMatchObject({
        name,
        status: expected.status,
        body: {
          errorCode: expected.errorCode,
          errorDetails: expect.stringMatching(/^\S.+[.:]?/),
          ...(expected.error !== undefined && { error: expected.error }),
        },
      });
      expect([name, Object.keys(body).sort()]).toEqual([name, [...expected.members].sort()]);
      if (expected.error !== undefined) expect(body.docs).toEndWith(`/errors/${expected.error}`);
      expect(answer.headers.get('Content-Type')).toBe('application/json');
    }
  });

  test('S15.10 the manifest gives each flag a type and a neutral default', async () => {
    const world = await World.make(subject());
    const values = {
      'a-switch': undefined,
      'b-true': 'true',
      'c-false': 'false',
      'd-text': '"hello"',
      'e-whole': '-12',
      'f-float': '1.0',
      'g-exponent': '1e3',
      'h-object': '{"a":1}',
      'i-list': '[1]',
      'j-null': 'null',
    };

    for (const [key, value] of Object.entries(values))
      await world.putText(
        key,
        value === undefined ? '{"enabled":false}' : `{"enabled":true,"value":${value}}`,
      );

    const path = '/environments/production/openfeature/v0/manifest';
    const answer = await fetch(`${world.url}${path}`, { headers: { Authorization: `Bearer ${world.key}` } });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({
      flags: [
        { key: 'a-switch', type: 'boolean', defaultValue: false },
        { key: 'b-true', type: 'boolean', defaultValue: false },
        { key: 'c-false', type: 'boolean', defaultValue: false },
        { key: 'd-text', type: 'string', defaultValue: '' },
        { key: 'e-whole', type: 'integer', defaultValue: 0 },
        { key: 'f-float', type: 'float', defaultValue: 0 },
        { key: 'g-exponent', type: 'float', defaultValue: 0 },
        { key: 'h-object', type: 'object', defaultValue: {} },
        { key: 'i-list', type: 'object', defaultValue: [] },
      ],
    });

    const tag = answer.headers.get('ETag') ?? '';
    const again = await world.fetch(path, { headers: { 'If-None-Match': tag } });
    expect([again.status, again.headers.get('X-Manifest-Capabilities')]).toEqual([304, 'read']);
    // Without a name in the address, as on OFREP's routes.
    const named = await world.fetch('/openfeature/v0/manifest', {
      headers: { 'X-Flags-Environment': 'staging' },
    });
    expect(await named.json()).toEqual({ flags: [] });

    for (const [status, init, other = path] of [
      [401, { headers: { 'X-Service-Key': 'nonsense' } }],
      [400, {}, '/openfeature/v0/manifest'],
      [404, {}, '/environments/nowhere/openfeature/v0/manifest'],
      [404, {}, '/openfeature/v0/manifest/flags'],
      [405, { method: 'POST' }],
    ] as const) {
      const refused = await world.fetch(other, init);
      expect([other, refused.status]).toEqual([other, status]);
      expect(await refused.json()).toEqual({
        error: { status, message: expect.any(String), code: expect.any(String), docs: expect.any(String) },
      });
    }
  });

  test('S15.11 answers carry the revision and a request id, and no CORS', async () => {
    const world = await World.make(subject(), { a: { enabled: true } });
    const headers = { 'X-Request-Id': 'my-request', Origin: 'https://example.com' };
    for (const [method, path, status] of [
      ['POST', '/environments/production/ofrep/v1/evaluate/flags', 200],
      ['POST', '/environments/production/ofrep/v1/evaluate/flags/a', 200],
      ['POST', '/environments/production/ofrep/v1/evaluate/flags/absent', 404],
      ['GET', '/environments/production/openfeature/v0/manifest', 200],
      ['HEAD', '/environments/production/openfeature/v0/manifest', 405],
      ['HEAD', '/environments/production/ofrep/v1/evaluate/flags', 405],
      ['OPTIONS', '/environments/production/ofrep/v1/evaluate/flags', 405],
      ['POST', '/ofrep/v1', 404],
    ] as const) {
      const answer = await world.fetch(path, { method, headers, ...(method === 'POST' && { body: '{}' }) });
      expect([method, path, answer.status]).toEqual([method, path, status]);
      expect(answer.headers.get('X-Request-Id')).toBe('my-request');
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull();
      expect(answer.headers.get('Allow')).toBe(
        status === 405 ? (path.endsWith('flags') ? 'POST' : 'GET') : null,
      );
      const isRead = status === 200 || path.endsWith('absent');
      expect(answer.headers.get('X-Flags-Revision')).toBe(isRead ? '1' : null);
      expect(answer.headers.get('Cache-Control')).toBe(isRead ? 'private, no-cache' : 'no-store');
      if (isRead)
        expect(answer.headers.get('Vary')).toBe(
          `X-Service-Key, X-API-Key, Authorization, X-Flags-Environment${
            path.endsWith('/evaluate/flags') ? ', Accept-Encoding' : ''
          }`,
        );
    }
  });
});

/** The body of a request of the fixtures. */
function requestBody({ body, bodyBase64, bodyBytes }: (typeof refusals.cases)[number]['request']) {
  if (bodyBase64 !== undefined) return Buffer.from(bodyBase64, 'base64');
  if (bodyBytes === undefined) return body ?? '';
  return `{"context":{"padding":"${'x'.repeat(bodyBytes - 26)}"}}`;
}
