import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Management, type NodeProcess, sendRaw, startNode } from '@halyard/testing';
import { version } from '../../../../package.json' with { type: 'json' };

let node: NodeProcess;

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_CORS_ORIGINS: 'https://page.example' } });
}, 60_000);
afterAll(() => node.stop());

test('an answer to a chunked body ends its connection, because trailers get a second one', async () => {
  const host = `Host: ${new URL(node.url).host}`;
  for (const target of [
    'POST /v1/flags/batch',
    'GET /healthz',
    'GET /metrics',
    'POST /api/session',
    'GET /docs',
  ]) {
    const request = `${target} HTTP/1.1\r\n${host}\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nFoo: bar\r\n\r\n`;
    const { answers, ended } = await sendRaw(node.url, request);
    expect([target, answers[0]?.headers.get('Connection'), ended]).toEqual([target, 'close', 'closed']);
  }
  const { answers } = await sendRaw(node.url, `GET /healthz HTTP/1.1\r\n${host}\r\n\r\n`, { answers: 1 });
  expect(answers[0]?.headers.get('Connection') ?? null).toBeNull();
}, 60_000);

test('the health answer and the metrics name the version', async () => {
  expect(await (await fetch(`${node.url}/healthz`)).json()).toEqual({ status: 'ok', version });
  const metrics = await (await fetch(`${node.url}/metrics`)).text();
  expect(metrics).toContain(`halyard_build_info{version="${version}",commit="unknown"} 1\n`);
});

test('rejects a body of any length with JSON, after checking the credentials', async () => {
  const length = 41 * 1024 * 1024;
  const head = `Host: ${new URL(node.url).host}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n`;
  for (const [target, headers, code] of [
    ['POST /v1/flags/batch', '', 'invalid_api_key'],
    ['POST /api/projects', '', 'invalid_access_token'],
    ['POST /api/projects', `Authorization: Bearer ${node.adminToken}\r\n`, 'invalid_argument'],
  ]) {
    const request = `${target} HTTP/1.1\r\n${head}${headers}\r\n${'a'.repeat(2 * 1024 * 1024)}`;
    const { answers } = await sendRaw(node.url, request, { answers: 1 });
    expect(JSON.parse(answers[0]?.text ?? '')).toMatchObject({ error: code });
  }
}, 60_000);

test('refuses an authenticated request whose body stops coming', async () => {
  const head =
    `POST /api/projects HTTP/1.1\r\nHost: ${new URL(node.url).host}\r\nAuthorization: Bearer ${node.adminToken}\r\n` +
    'Content-Type: application/json\r\nContent-Length: 18\r\n\r\n';
  const { answers } = await sendRaw(node.url, `${head}{"name":`, { answers: 1, timeoutMs: 40_000 });
  expect([answers[0]?.status, JSON.parse(answers[0]?.text ?? '').error]).toEqual([400, 'invalid_argument']);
}, 60_000);

test('lets a page of a listed origin read that a method is not allowed', async () => {
  const headers = { Origin: 'https://page.example' };
  const answer = await fetch(`${node.url}/v1/flags`, { method: 'DELETE', headers });
  expect([answer.status, answer.headers.get('Access-Control-Allow-Origin')]).toEqual([405, headers.Origin]);
});

test('lets a page of a listed origin read that a path does not exist', async () => {
  const headers = { Origin: 'https://page.example' };
  for (const path of ['/v1/nothing', '/v1/', '/v1/flags/', '/v1/flags/a/b']) {
    const answer = await fetch(node.url + path, { headers });
    expect([path, answer.status]).toEqual([path, 404]);
    expect(answer.headers.get('Access-Control-Allow-Origin')).toBe(headers.Origin);
    expect(await answer.json()).toMatchObject({ error: 'not_found' });
    const asked = await fetch(node.url + path, { method: 'OPTIONS', headers });
    expect([asked.status, asked.headers.get('Access-Control-Allow-Origin')]).toEqual([204, headers.Origin]);
  }
});

test('a connection that sends many requests at once without a key does not keep others waiting', async () => {
  const management = new Management(node);
  await management.createProject('burst');
  const { key } = await management.createKey('burst', ['production']);
  const send = (path: string, count: number, more = '', method = 'GET') =>
    sendRaw(node.url, `${method} ${path} HTTP/1.1\r\nHost: h\r\n${more}\r\n`.repeat(count), {
      answers: count,
    });

  // Few at once are nothing unusual, and readers may send as many as they like.
  const few = await send('/v1/flags?env=production', 50);
  expect([few.ended, few.answers.length]).toEqual(['open', 50]);
  const many = await send('/v1/flags?env=production', 2000, `X-Service-Key: ${key}\r\n`);
  expect([many.ended, many.answers.length]).toEqual(['open', 2000]);

  const paths = ['/v1/flags?env=production', '/v1/nothing', '/v1/flags/a', '/healthz'];
  // Answers that are promises, which may settle at once.
  const later = [
    '/nothing',
    '/',
    '/docs/errors',
    '/api/openapi.json',
    '/log/v1',
    '//x',
    'POST /v1/flags/batch',
  ];
  for (const path of [...paths, ...later]) {
    const [target = '', method] = path.split(' ').reverse();
    const { answers, ended } = await send(target, 2000, '', method);
    // The end of a connection with unread requests is a reset, which may overtake answers.
    expect([path, ended === 'open', answers.length < 2000]).toEqual([path, false, true]);
    expect(new Set(answers.map(({ status }) => status)).size).toBeLessThan(2);
  }
});

test('health and metrics accept only GET and HEAD', async () => {
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect((await fetch(node.url + path, { method: 'HEAD' })).status).toBe(200);
    for (const method of ['POST', 'DELETE', 'PUT', 'OPTIONS']) {
      const answer = await fetch(node.url + path, { method });
      expect([path, method, answer.status, answer.headers.get('Allow')]).toEqual([
        path,
        method,
        405,
        'GET, HEAD',
      ]);
      expect(await answer.json()).toMatchObject({ error: 'method_not_allowed' });
    }
  }
});

test('a path that only resembles a route does not exist', async () => {
  const headers = { Authorization: `Bearer ${node.adminToken}` };
  expect((await fetch(`${node.url}/api/openapiXjson`, { headers })).status).toBe(404);
});
