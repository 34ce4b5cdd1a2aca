import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { sendRaw, until } from '@halyard/testing';
import evaluation from '../../../../../conformance/fixtures/evaluation.json';
import rollout from '../../../../../conformance/fixtures/rollout.json';
import { openTestRoutes } from './test-routes.ts';

setDefaultTimeout(60_000);

const FLAGS = '/ofrep/v1/evaluate/flags';

function ask(url: string, path: string, init: BunFetchRequestInit = {}): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    body: '{}',
    ...init,
    headers: { 'X-API-Key': 'key', ...init.headers },
  });
}

function bodyFor(targetingKey: string | undefined): string {
  return JSON.stringify({ context: { targetingKey } });
}

describe('the flags of an environment, also those whose keys could not be created', () => {
  test('answer as the table of evaluations says, alone and with all others', async () => {
    const { url, environment } = openTestRoutes();
    for (const { name, flagKey, state, targetingKey, expected } of evaluation.cases) {
      environment.apply(environment.revision + 1, [[flagKey, state ? JSON.stringify(state) : null]]);
      const init = { body: bodyFor(targetingKey) };
      const alone: unknown = await (await ask(url, `${FLAGS}/${encodeURIComponent(flagKey)}`, init)).json();
      expect([name, alone]).toEqual([name, expect.objectContaining({ key: flagKey, ...expected.ofrep })]);
      const hasValue = Object.hasOwn(alone as object, 'value');
      expect([name, hasValue]).toEqual([name, Object.hasOwn(expected.ofrep, 'value')]);
      // As OFREP gives it.
      const { flags } = (await (await ask(url, FLAGS, init)).json()) as { flags: { key: string }[] };
      const inBulk = flags.filter(({ key }) => key === flagKey);
      expect([name, inBulk]).toEqual([name, state ? [alone as { key: string }] : []]);
    }
  });

  test('are in a rollout below its percentage, and not at it', async () => {
    const { url, environment } = openTestRoutes();
    for (const { flagKey, targetingKey, bucket } of rollout.buckets) {
      for (const [variant, buckets] of [
        ['off', bucket],
        ['on', bucket + 1],
      ] as const) {
        const state = JSON.stringify({ enabled: true, rolloutPct: buckets / 1000 });
        environment.apply(environment.revision + 1, [[flagKey, state]]);
        const bulk: unknown = await (await ask(url, FLAGS, { body: bodyFor(targetingKey) })).json();
        expect(bulk).toMatchObject({ flags: [{ key: flagKey, variant, value: variant === 'on' }] });
        environment.apply(environment.revision + 1, [[flagKey, null]]);
      }
    }
  });
});

describe('the body of a request', () => {
  test('is read whole when its length is not announced, and refused when it is too long', async () => {
    const { url, environment } = openTestRoutes();
    environment.apply(8, [['half', '{"enabled":true,"rolloutPct":50}']]);
    const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
    const start = `POST ${FLAGS}/half HTTP/1.1\r\nHost: here\r\nX-API-Key: key\r\nTransfer-Encoding: chunked\r\n\r\n`;
    const small = `${chunk('{"context":{"targ')}${chunk('etingKey":"user-1"}}')}0\r\n\r\n`;
    const large = `${chunk('x'.repeat(4096)).repeat(65)}0\r\n\r\n`;
    const [read, refused] = await Promise.all(
      [small, large].map(async (body) => {
        const { answers } = await sendRaw(url, [start, body], { answers: 1, timeoutMs: 30_000 });
        return { status: answers[0]?.status, body: JSON.parse(answers[0]?.text ?? '') };
      }),
    );
    expect(read).toMatchObject({ status: 200, body: { key: 'half', reason: 'SPLIT' } });
    expect(refused).toMatchObject({ status: 400, body: { key: 'half', errorCode: 'PARSE_ERROR' } });
  });

  test('may be nested deeply without harm', async () => {
    const { url } = openTestRoutes();
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const deep = open.repeat(20_000) + (close === '}' ? '1' : '') + close.repeat(20_000);
      for (const body of [deep, open.repeat(20_000), `{"context":{"deep":${deep}}}`])
        expect([200, 400]).toContain((await ask(url, FLAGS, { body })).status);
    }
  });

  test.each([
    ['announced', 'Content-Length: 2', '{', '}'],
    ['sent in chunks', 'Transfer-Encoding: chunked', '1\r\n{\r\n', '1\r\n}\r\n0\r\n\r\n'],
  ])('may take so long, %s, that the key is revoked before its end', async (_, header, start, end) => {
    const { url, catalog, key } = openTestRoutes();
    const answer = Promise.withResolvers<string>();
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: Number(new URL(url).port),
      socket: {
        data: (_socket, bytes) => answer.resolve(bytes.toString()),
        error: (_socket, e) => answer.reject(e),
      },
    });
    key.used = false;
    socket.write(`POST ${FLAGS} HTTP/1.1\r\nHost: here\r\nX-API-Key: key\r\n${header}\r\n\r\n${start}`);
    await until('the key has been looked up', () => key.used);
    const payload = JSON.stringify({ id: key.id, digest: key.digest });
    const row = {
      seq: 1,
      changeId: 'c',
      projectId: 'p',
      actor: 'system',
      at: 0,
      kind: 'key.revoked',
      payload,
    };
    catalog.apply(row as Parameters<typeof catalog.apply>[0]);
    socket.write(end);
    expect(await answer.promise).toStartWith('HTTP/1.1 401 ');
    socket.terminate();
  });
});

describe('the routes of OFREP', () => {
  test('a refused key is answered with the headers that may carry one', async () => {
    const { url } = openTestRoutes({});
    const refused = await ask(url, FLAGS, { headers: { 'X-API-Key': 'wrong' } });
    expect((await refused.json()) as object).toMatchObject({
      message:
        'The project key is missing, unknown, revoked or expired: send an active one in X-Service-Key, X-API-Key or Authorization: Bearer. ' +
        'Headers that carry a key must all carry the same one.',
    });
  });

  test('share the rate limit of a key with /v1', async () => {
    const { url } = openTestRoutes({ rateLimit: 3 });
    const v1 = () => fetch(`${url}/v1/flags?env=production`, { headers: { 'X-Service-Key': 'key' } });
    const manifest = () => ask(url, '/openfeature/v0/manifest', { method: 'GET', body: undefined });
    for (const answer of [await v1(), await ask(url, FLAGS), await manifest()])
      expect(answer.status).toBe(200);
    for (const path of [FLAGS, `${FLAGS}/a`]) {
      const refused = await ask(url, path);
      expect([refused.status, refused.headers.get('Retry-After')]).toEqual([429, '1']);
      expect(await refused.json()).toMatchObject({
        errorCode: 'GENERAL',
        errorDetails: expect.any(String),
        error: 'rate_limited',
        docs: 'https://docs.example/errors/rate_limited',
      });
    }
    expect([(await v1()).status, (await manifest()).status]).toEqual([429, 429]);
  });

  test('answer pages of listed origins, which may send each of their headers', async () => {
    const { url } = openTestRoutes({ corsOrigins: ['https://page.example'] });
    const Origin = 'https://page.example';
    for (const [path, method] of [
      [FLAGS, 'POST'],
      [`${FLAGS}/a`, 'POST'],
      ['/environments/production/openfeature/v0/manifest', 'GET'],
      ['/ofrep/v1/unknown', 'GET, POST'],
    ] as const) {
      const preflight = await fetch(`${url}${path}`, { method: 'OPTIONS', headers: { Origin } });
      expect([path, preflight.status, preflight.headers.get('Access-Control-Allow-Methods')]).toEqual([
        path,
        204,
        method,
      ]);
      expect(preflight.headers.get('Access-Control-Allow-Headers')).toBe(
        'X-Service-Key, X-API-Key, Authorization, X-Flags-Environment, Content-Type, If-None-Match, X-Request-Id, Last-Event-ID',
      );
      expect(preflight.headers.get('Access-Control-Allow-Credentials')).toBeNull();
      expect(preflight.headers.get('X-Request-Id')).toMatch(/.+/);
    }
    for (const [answer, status] of [
      [await ask(url, FLAGS, { headers: { Origin } }), 200],
      [await ask(url, `${FLAGS}/absent`, { headers: { Origin } }), 404],
      [await ask(url, FLAGS, { headers: { Origin, 'X-API-Key': 'wrong' } }), 401],
      [await ask(url, FLAGS, { headers: { Origin }, method: 'PUT' }), 405],
    ] as const) {
      expect(answer.status).toBe(status);
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(Origin);
      expect(answer.headers.get('Access-Control-Expose-Headers')).toContain('ETag');
    }
    const other = await ask(url, FLAGS, { headers: { Origin: 'https://other.example' } });
    expect([other.status, other.headers.get('Access-Control-Allow-Origin')]).toEqual([200, null]);
  });

  test('carry the age of their flags, and answer every key with 500 before any flags are loaded', async () => {
    const { url, state } = openTestRoutes();
    const requests = [
      [FLAGS, 'POST'],
      [`${FLAGS}/absent`, 'POST'],
      ['/openfeature/v0/manifest', 'GET'],
    ] as const;
    const askAll = (headers = {}) =>
      Promise.all(
        requests.map(([path, method]) =>
          ask(url, path, { method, headers, ...(method === 'GET' && { body: undefined }) }),
        ),
      );
    state.staleSeconds = 12;
    for (const answer of await askAll()) expect(answer.headers.get('X-Flags-Stale')).toBe('12');
    state.staleSeconds = undefined;
    for (const answer of await askAll()) expect(answer.headers.get('X-Flags-Stale')).toBeNull();
    state.canRead = false;
    for (const answer of [...(await askAll()), ...(await askAll({ 'X-API-Key': 'wrong' }))]) {
      expect([answer.status, answer.headers.get('Retry-After')]).toEqual([500, '1']);
      const body: unknown = await answer.json();
      if (answer.url.endsWith('manifest')) expect(body).toMatchObject({ error: { status: 500 } });
      else expect(body).toMatchObject({ errorDetails: expect.any(String), error: 'internal_error' });
    }
  });

  test('are counted by operation and status', async () => {
    const { url, counters } = openTestRoutes();
    await ask(url, FLAGS);
    await ask(url, FLAGS, { body: '{' });
    await ask(url, `/environments/production${FLAGS}/absent`);
    await ask(url, '/openfeature/v0/manifest', { method: 'GET', body: undefined });
    await ask(url, '/ofrep/v1/unknown');
    await ask(url, FLAGS, { method: 'PUT' });
    const counts = [...counters.entries()].map(({ operation, status, count }) => [operation, status, count]);
    expect(counts.filter(([, , count]) => count !== 0).sort()).toEqual([
      ['manifest', 200, 1],
      ['ofrep-bulk', 200, 1],
      ['ofrep-bulk', 400, 1],
      ['ofrep-single', 404, 1],
      ['other', 404, 1],
      ['other', 405, 1],
    ]);
  });
});
