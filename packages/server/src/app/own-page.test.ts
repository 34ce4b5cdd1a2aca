import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ADMIN_TOKEN, openTestApp, type TestApp, type TestRequest } from '../management/api/test-app.ts';
import { join, ORIGIN, PASSWORD } from '../management/api/test-browser.ts';
import { ENGINES } from '../storage/test-engines.ts';

setDefaultTimeout(60_000);

const JSON_TYPE = { 'Content-Type': 'application/json' };

let app: TestApp;
let cookie: string;
beforeAll(async () => {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error('the tests have no engine');
  app = await openTestApp(engine);
  cookie = `halyard_session=${(await join(app, { email: 'ada@example.com', role: 'admin' })).browser.id}`;
});
afterAll(() => app.close());

/** Asks with the session's cookie and nothing else but `headers`. */
function forge(headers: Readonly<Record<string, string>>, body: unknown = { name: 'forged' }) {
  return app.call('POST', '/api/projects', { token: null, body, headers: { Cookie: cookie, ...headers } });
}

describe('with a session, rejects a change that', () => {
  test.each([
    ['comes from another site', { ...JSON_TYPE, Origin: 'https://evil.example' }],
    ['comes from a page without an origin', { ...JSON_TYPE, Origin: 'null' }],
    ['comes from a file', { ...JSON_TYPE, Origin: 'file://' }],
    ['has an invalid origin', { ...JSON_TYPE, Origin: 'flags.example' }],
    ['comes from a site whose name begins alike', { ...JSON_TYPE, Origin: `${ORIGIN}.evil.example` }],
    ['comes from the other scheme of the public address', { ...JSON_TYPE, Origin: 'http://flags.example' }],
    ['says nothing of where it comes from', JSON_TYPE],
    ['the browser calls cross-site', { ...JSON_TYPE, Origin: ORIGIN, 'Sec-Fetch-Site': 'cross-site' }],
    ['the browser calls same-site', { ...JSON_TYPE, Origin: ORIGIN, 'Sec-Fetch-Site': 'same-site' }],
    ['was typed into the address bar', { ...JSON_TYPE, 'Sec-Fetch-Site': 'none' }],
  ])('%s', async (_, headers) => {
    expect((await forge(headers)).json).toMatchObject({ error: 'forbidden' });
    expect((await app.call('GET', '/api/projects/forged')).status).toBe(404);
  });

  test.each([
    ['text/plain'],
    ['text/plain; application/json'],
    ['application/x-www-form-urlencoded'],
    ['multipart/form-data; boundary=x'],
    [''],
  ])('has the content type "%s", which any page can send', async (type) => {
    const headers = type === '' ? { Origin: ORIGIN } : { Origin: ORIGIN, 'Content-Type': type };
    const refused = await forge(headers);
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid_argument']);
    expect(refused.json.message).toContain('application/json');
    expect((await app.call('GET', '/api/projects/forged')).status).toBe(404);
  });

  test('has another method, or no body at all', async () => {
    await app.call('POST', '/api/projects', { body: { name: 'kept' } });
    const headers = { Cookie: cookie, Origin: 'https://evil.example' };
    for (const method of ['DELETE', 'PUT', 'PATCH', 'POST']) {
      const { json } = await app.call(method, '/api/projects/kept', { token: null, headers });
      expect(json.error).toBe('forbidden');
    }
    expect((await app.call('DELETE', '/api/session', { token: null, headers })).json.error).toBe('forbidden');
    expect((await app.call('GET', '/api/projects/kept')).status).toBe(200);
    expect((await app.call('GET', '/api/whoami', { token: null, headers: { Cookie: cookie } })).status).toBe(
      200,
    );
  });
});

describe('with a session, accepts a change that', () => {
  test.each([
    ['comes from the public address', { Origin: ORIGIN }],
    ['comes from the host that was asked', { Origin: 'http://10.0.0.5:7070', Host: '10.0.0.5:7070' }],
    [
      'comes from the host that the proxy was asked for',
      { Origin: 'https://a.example', 'X-Forwarded-Host': 'a.example' },
    ],
    ['the browser calls same-origin', { 'Sec-Fetch-Site': 'same-origin' }],
  ])('%s', async (what, headers) => {
    const name = `p-${Bun.hash(what)}`;
    const answer = await forge({ ...headers, 'Content-Type': 'application/json; charset=utf-8' }, { name });
    expect(answer.status).toBe(201);
  });

  test('has no body, or is a document in YAML', async () => {
    const headers = { Cookie: cookie, Origin: ORIGIN, 'X-Confirm-Environment': 'production' };
    await app.call('POST', '/api/projects', { body: { name: 'gone' } });
    expect((await app.call('DELETE', '/api/projects/gone', { token: null, headers })).status).toBe(200);
    const yaml: TestRequest = {
      body: 'halyard: 1\nproject: from-yaml\nenvironments: [development]\nflags: {}\n',
      headers: { ...headers, 'Content-Type': 'application/yaml' },
    };
    expect((await app.call('POST', '/api/import', { ...yaml, token: null })).status).toBe(200);
  });
});

describe('signing in', () => {
  const body = { email: 'ada@example.com', password: PASSWORD };
  const signIn = (headers: Readonly<Record<string, string>>) =>
    app.call('POST', '/api/session', { token: null, body, headers });

  test('is rejected for a page of another site, which could sign people in to its own account', async () => {
    const answer = await signIn({ ...JSON_TYPE, Origin: 'https://evil.example' });
    expect([answer.json.error, answer.headers.getSetCookie()]).toEqual(['forbidden', []]);
    expect((await signIn({ Origin: ORIGIN, 'Content-Type': 'text/plain' })).status).toBe(400);
  });

  test('is possible for a program, which sends neither cookie nor origin', async () => {
    expect((await signIn(JSON_TYPE)).status).toBe(200);
  });

  test.each([
    [
      'https://flags.example',
      /^__Host-halyard_session=hss_\w{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax; Secure$/,
    ],
    ['http://localhost', /^halyard_session=hss_\w{43}; Path=\/; Max-Age=604800; HttpOnly; SameSite=Lax$/],
  ])('from %s sets the right cookie', async (origin, expected) => {
    const [set = '', ...others] = (await signIn({ ...JSON_TYPE, Origin: origin })).headers.getSetCookie();
    expect(set).toMatch(expected);
    expect(others).toEqual([]);
  });
});

describe('credentials', () => {
  const whoami = (headers: Readonly<Record<string, string>>) =>
    app.call('GET', '/api/whoami', { token: null, headers });

  test('ignores cookie and origin when "Authorization" is present', async () => {
    const bad = await whoami({ Cookie: cookie, Authorization: 'Bearer hat_wrong' });
    expect([bad.json.error, bad.headers.get('WWW-Authenticate')]).toEqual(['invalid_access_token', 'Bearer']);
    const headers = {
      Cookie: cookie,
      Origin: 'https://evil.example',
      Authorization: `Bearer ${ADMIN_TOKEN}`,
    };
    expect((await whoami(headers)).json.name).toBe('admin');
    const body = { name: 'by-token' };
    expect((await app.call('POST', '/api/projects', { token: null, body, headers })).status).toBe(201);
    expect((await app.call('GET', '/api/session', { headers: { Cookie: cookie } })).json.signedIn).toBe(
      false,
    );
  });

  test('rejects an invalid cookie without asking for a token', async () => {
    for (const id of ['', 'x', 'hss_', `hss_${'a'.repeat(43)}`, `hss_${'a'.repeat(5000)}`, 'hat_a=b']) {
      const { status, json, headers } = await whoami({ Cookie: `other=1; halyard_session=${id}` });
      expect([status, json.error, headers.get('WWW-Authenticate')]).toEqual([401, 'not_signed_in', null]);
    }
    const none = await whoami({ Cookie: 'other=1' });
    expect([none.json.error, none.headers.get('WWW-Authenticate')]).toEqual([
      'invalid_access_token',
      'Bearer',
    ]);
  });

  test('prefers the cookie that only HTTPS can set', async () => {
    expect((await whoami({ Cookie: `halyard_session=x; __Host-${cookie}` })).status).toBe(200);
    expect((await whoami({ Cookie: `__Host-halyard_session=x; ${cookie}` })).status).toBe(401);
  });

  test.each([
    ['Host', 'flags.example', 401],
    ['X-Forwarded-Host', 'flags.example', 401],
    ['Host', 'localhost:7070', 200],
    ['Host', '10.0.0.5:7070', 200],
  ])('at %s: %s, the cookie that another host of the domain can plant: %d', async (header, host, status) => {
    expect((await whoami({ Cookie: cookie, [header]: host })).status).toBe(status);
    expect((await whoami({ Cookie: `__Host-${cookie}`, [header]: host })).status).toBe(200);
    // A program that signs in there, and names no origin, gets the cookie that counts there.
    const body = { email: 'ada@example.com', password: PASSWORD };
    const headers = { ...JSON_TYPE, [header]: host };
    const [set = ''] = (
      await app.call('POST', '/api/session', { token: null, body, headers })
    ).headers.getSetCookie();
    expect(set.startsWith('__Host-')).toBe(status === 401);
  });
});
