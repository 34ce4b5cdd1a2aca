import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import { ADMIN_TOKEN, openTestApp, type TestApp } from '../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../storage/test-engines.ts';
import type { ManagementAppOptions } from './app.ts';
import { LazyManagementApp } from './lazy-app.ts';

setDefaultTimeout(60_000);

let app: TestApp;
beforeAll(async () => {
  // These tests do not depend on the engine.
  const sqlite: TestEngine | undefined = ENGINES.find(({ name }) => name === 'sqlite');
  if (sqlite === undefined) throw new Error('the tests have no SQLite');
  app = await openTestApp(sqlite);
});
afterAll(() => app.close());

describe('authentication', () => {
  test('answers every cause of refusal identically', async () => {
    const expiresAt = new Date(app.node.now + 1000).toISOString();
    const expired = (await app.call('POST', '/api/tokens', { body: { name: 'expired', expiresAt } })).json;
    const revoked = (await app.call('POST', '/api/tokens', { body: { name: 'revoked' } })).json;
    expect((await app.call('GET', '/api/whoami', { token: expired.token })).json).toEqual({
      name: 'expired',
      role: 'editor',
      canChangeProtected: false,
    });
    expect((await app.call('GET', '/api/whoami', { token: revoked.token })).status).toBe(200);
    expect((await app.call('DELETE', `/api/tokens/${revoked.id}`)).status).toBe(200);
    expect((await app.call('DELETE', `/api/tokens/${revoked.id}`)).status).toBe(200);
    app.node.now += 1000;
    const headers = [
      {},
      { Authorization: '' },
      { Authorization: ADMIN_TOKEN },
      { Authorization: `Basic ${ADMIN_TOKEN}` },
      { Authorization: 'Bearer' },
      { Authorization: `Bearer ${ADMIN_TOKEN}x` },
      { Authorization: `Bearer ${ADMIN_TOKEN.slice(0, -1)}` },
      { Authorization: `Bearer ${ADMIN_TOKEN} ${ADMIN_TOKEN}` },
      { Authorization: `Bearer ${'x'.repeat(5000)}` },
      { Authorization: `Bearer ${expired.token}` },
      { Authorization: `Bearer ${revoked.token}` },
    ];
    const answers = await Promise.all(
      headers.map((one) =>
        app.call('GET', '/api/projects', { token: null, headers: { 'X-Request-Id': 'r', ...one } }),
      ),
    );
    const [first, ...others] = answers.map(({ status, text, headers: fields }) => ({
      status,
      text,
      fields: [...fields],
    }));
    expect(first).toMatchObject({ status: 401, text: expect.stringContaining('"invalid_access_token"') });
    expect(first?.fields).toContainEqual(['www-authenticate', 'Bearer']);
    for (const other of others) expect<unknown>(other).toEqual(first);
    expect(app.logged.join()).not.toContain(ADMIN_TOKEN);
  });

  test('a rejected caller changes nothing, and cannot tell unknown paths from known ones', async () => {
    const refused = await app.call('POST', '/api/projects', { token: 'no', body: { name: 'sneaky' } });
    expect(refused.status).toBe(401);
    expect((await app.call('GET', '/api/projects/sneaky')).status).toBe(404);
    expect((await app.call('GET', '/api/nothing', { token: null })).status).toBe(401);
  });

  test('the name of a token is in the audit log, and unique among valid tokens', async () => {
    const body = { name: 'pipeline', role: 'admin' };
    const { token, id } = (await app.call('POST', '/api/tokens', { body })).json;
    expect(token).toMatch(/^hat_[0-9A-Za-z]{43}$/);
    for (const name of ['pipeline', 'admin']) {
      expect((await app.call('POST', '/api/tokens', { body: { name } })).json.error).toBe('already_exists');
    }
    await app.call('POST', '/api/projects', { token, body: { name: 'by-pipeline' } });
    const { entries } = (await app.call('GET', '/api/audit?project=by-pipeline')).json;
    expect(new Set(entries.map((entry: { actor: string }) => entry.actor))).toEqual(
      new Set(['token:pipeline']),
    );
    await app.call('DELETE', `/api/tokens/${id}`);
    expect((await app.call('POST', '/api/tokens', { body })).status).toBe(201);
    expect((await app.call('DELETE', '/api/tokens/none')).json.error).toBe('not_found');
  });

  test('the name of a token that has expired is free again', async () => {
    const { now } = app.node;
    const body = { name: 'short-lived' };
    const expiresAt = new Date(now + 1000).toISOString();
    expect((await app.call('POST', '/api/tokens', { body: { ...body, expiresAt } })).status).toBe(201);
    expect((await app.call('POST', '/api/tokens', { body })).status).toBe(409);
    app.node.now = now + 1000;
    expect((await app.call('POST', '/api/tokens', { body })).status).toBe(201);
    app.node.now = now;
  });

  test('the last use of a token is noted, a minute at a time', async () => {
    const { token, id } = (await app.call('POST', '/api/tokens', { body: { name: 'used' } })).json;
    const lastUsed = async () => {
      const { tokens } = (await app.call('GET', '/api/tokens')).json;
      return tokens.find((one: { id: string }) => one.id === id).lastUsedAt;
    };
    const firstUse = app.node.now;
    await app.call('GET', '/api/whoami', { token });
    // The use was queued for the one connection before this read was.
    expect(await lastUsed()).toBe(new Date(firstUse).toISOString());
    app.node.now += 59_000;
    await app.call('GET', '/api/whoami', { token });
    expect(await lastUsed()).toBe(new Date(firstUse).toISOString());
    app.node.now += 1_000;
    await app.call('GET', '/api/whoami', { token });
    expect(await lastUsed()).toBe(new Date(app.node.now).toISOString());
  });
});

describe('bodies', () => {
  test.each([
    ['', 'is empty'],
    ['{"name":"a"', 'not valid JSON'],
    ["{'name':'a'}", 'not valid JSON'],
    ['null', 'The body is not valid'],
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 'nested deeper than 64'],
    [`{"name":"${'a'.repeat(1024 * 1024)}"}`, 'larger than 1048576 bytes'],
    [`{"name":"a","${'n'.repeat(5000)}":1}`, 'unknown member'],
  ])('rejects an invalid body in one short sentence: %#', async (body, sentence) => {
    const { status, json } = await app.call('POST', '/api/projects', { body });
    expect([status, json.error]).toEqual([400, 'invalid_argument']);
    expect(json.message).toContain(sentence);
    expect(json.message.length).toBeLessThan(300);
    expect(json.docs).toBe('https://docs.example/errors/invalid_argument');
  });

  test('rejects bytes that are not UTF-8', async () => {
    const answer = await app.request('/api/projects', {
      method: 'POST',
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
      body: new Uint8Array([0x7b, 0xff, 0x7d]),
    });
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('not valid UTF-8');
  });

  test('reads an endless body no further than its limit', async () => {
    let pulled = 0;
    const endless = new ReadableStream({
      pull: (controller) => {
        pulled++;
        controller.enqueue(new Uint8Array(64 * 1024).fill(0x20));
      },
    });
    const answer = await app.request('/api/projects', {
      method: 'POST',
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
      body: endless,
    });
    expect(answer.status).toBe(400);
    expect(pulled).toBeLessThan(40);
  });
});

describe('routing', () => {
  test.each([
    ['PUT', '/api/projects', 'GET, HEAD, POST'],
    ['POST', '/api/projects/p', 'DELETE, GET, HEAD, PATCH'],
    ['POST', '/api/projects/p/environments/e/flags/f', 'DELETE, GET, HEAD, PATCH, PUT'],
    ['GET', '/api/import', 'POST'],
    ['OPTIONS', '/api/whoami', 'GET, HEAD'],
    ['POST', '/api/openapi.json', 'GET, HEAD'],
  ])('rejects %s %s, and says what is possible', async (method, path, allowed) => {
    const answer = await app.call(method, path);
    expect([answer.status, answer.json.error]).toEqual([405, 'method_not_allowed']);
    expect(answer.headers.get('Allow')).toBe(allowed);
  });

  test.each(['/api', '/api/', '/api/projects/', '/api/projects/p/nothing', '/api/projects//flags'])(
    '%s is nothing',
    async (path) => {
      const answer = await app.call('GET', path);
      expect([answer.status, answer.json.error]).toEqual([404, 'not_found']);
    },
  );

  test('keeps a slash in a name', async () => {
    const answer = await app.call('GET', '/api/projects/a%2Fflags');
    expect(answer.json.message).toContain('The project "a/flags" does not exist');
  });

  test('answers HEAD like GET, without a body', async () => {
    const answer = await app.call('HEAD', '/api/projects');
    expect([answer.status, answer.text]).toEqual([200, '']);
  });

  test('every answer has an id and stays out of caches and frames', async () => {
    for (const [method, path, token] of [
      ['GET', '/api/whoami', ADMIN_TOKEN],
      ['GET', '/api/whoami', null],
      ['GET', '/api/nothing', ADMIN_TOKEN],
      ['PUT', '/api/whoami', ADMIN_TOKEN],
    ] as const) {
      const { headers } = await app.call(method, path, { token, headers: { 'X-Request-Id': 'mine' } });
      expect(headers.get('X-Request-Id')).toBe('mine');
      expect(headers.get('Cache-Control')).toBe('no-store');
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff');
      expect(headers.get('Content-Security-Policy')).toContain("default-src 'none'");
    }
  });

  test('the node opens streams', async () => {
    const answer = await app.call('GET', '/api/projects/p/environments/e/stream');
    expect(answer.text).toBe('data: p/e\n\n');
    expect(app.streams).toEqual(['p/e']);
    expect((await app.call('HEAD', '/api/projects/p/environments/e/stream')).status).toBe(200);
    expect(app.streams).toEqual(['p/e']);
  });
});

describe('writing', () => {
  test('a write answers only after this node has applied it', async () => {
    const applied = Promise.withResolvers<void>();
    app.node.waitForApplied = () => applied.promise;
    let answered = false;
    const writing = app.call('POST', '/api/projects', { body: { name: 'patient' } }).then((answer) => {
      answered = true;
      return answer;
    });
    const sql = "SELECT 1 FROM projects WHERE name = 'patient'";
    await until('the project is committed', async () => (await app.home.database.query(sql)).length > 0);
    await new Promise(setImmediate);
    expect(answered).toBe(false);
    applied.resolve();
    expect((await writing).status).toBe(201);
  });

  test('S14.7 the answer of a write says whether this node has yet to serve the change, and no other does', async () => {
    const name = 'pending';
    const pendingOf = async (...call: Parameters<typeof app.call>) =>
      (await app.call(...call)).headers.get('X-Change-Pending');
    expect(await pendingOf('POST', '/api/projects', { body: { name } })).toBeNull();
    app.node.isBehind = true;
    expect(await pendingOf('PATCH', `/api/projects/${name}`, { body: { usage: true } })).toBe('true');
    expect(await pendingOf('PATCH', `/api/projects/${name}`, { body: { usage: true } })).toBeNull();
    expect(await pendingOf('GET', `/api/projects/${name}`)).toBeNull();
    app.node.isBehind = false;
    const answer = await app.call('DELETE', `/api/projects/${name}?confirm=${name}`);
    expect([...answer.headers.keys()].filter((header) => header.startsWith('x-change'))).toEqual([]);
  });

  test('while the node cannot follow the log, reads work and writes do not', async () => {
    app.node.isLost = true;
    const write = await app.call('POST', '/api/projects', { body: { name: 'unseen' } });
    expect([write.status, write.json.error]).toEqual([500, 'internal_error']);
    expect(write.json.message).not.toContain('the log is lost');
    expect((await app.call('GET', '/api/projects/unseen')).status).toBe(404);
    app.node.isLost = false;
  });
});

test('an API that could not be loaded is loaded by the next request', async () => {
  let attempts = 0;
  const options = {
    get context() {
      if (attempts++ === 0) throw new Error('too many open files');
      return app.context;
    },
    docsUrl: '',
    // Not used: no route is asked.
  } as unknown as ManagementAppOptions;
  const lazy = new LazyManagementApp(options);
  await expect(lazy.load()).rejects.toThrow('too many open files');
  expect(await lazy.load()).toBe(await lazy.load());
});
