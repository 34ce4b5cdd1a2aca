import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import { startIdentityProvider, type TestIdentityProvider } from '@halyard/testing/identity-provider';
import { ORIGIN, TestBrowser } from '../../management/api/test-browser.ts';
import { ENGINES } from '../../storage/test-engines.ts';
import { SIGN_ON_MS } from '../people/operator.ts';
import { CLIENT, outcome, personIn, SsoBrowser, settingsOf, sharedApp } from './test-sign-on.ts';

setDefaultTimeout(60_000);

let provider: TestIdentityProvider;
beforeAll(async () => {
  provider = await startIdentityProvider(CLIENT);
});
afterAll(() => provider.close());

describe('the exchange with the provider', () => {
  const shared = sharedApp(ENGINES[0], () => provider);
  const { newBrowser } = shared;
  const newBrowserAt = (other: TestIdentityProvider) => new SsoBrowser(shared.app, other);

  test('an answer of the provider works once, soon, and in the browser that asked', async () => {
    const person = personIn('fay');
    const expired = '/sign-in?sso=expired';
    const browser = newBrowser();
    const url = await browser.reachCallback(person);
    const cookie = browser.begun;
    const other = newBrowser();
    expect(outcome(await other.finish(url))).toBe(expired);
    await other.reachCallback(person);
    expect(outcome(await other.finish(url))).toBe(expired);
    expect(outcome(await browser.finish(`${url}&state=x`))).toBe(expired);
    browser.begun = cookie;
    expect(outcome(await browser.finish(url.replace(/state=[^&]+/, 'state=x')))).toBe(expired);
    browser.begun = cookie;
    shared.app.node.now += SIGN_ON_MS;
    expect(outcome(await browser.finish(url))).toBe(expired);
    shared.app.node.now -= SIGN_ON_MS;
    // Begun on a node whose clock is far ahead: it would last longer.
    browser.begun = cookie;
    shared.app.node.now -= 2 * 60_000;
    expect(outcome(await browser.finish(url))).toBe(expired);
    shared.app.node.now += 2 * 60_000;
    browser.begun = cookie;
    expect(outcome(await browser.finish(url))).toBe('/');
    // In the same browser, which is signed in now, nothing is lost; elsewhere the copy is worth nothing.
    expect(outcome(await browser.finish(url))).toBe('/');
    const thief = newBrowser();
    thief.begun = cookie;
    expect(outcome(await thief.finish(url))).toBe('/sign-in?sso=invalid');
    expect(thief.browser.id).toBeUndefined();
    // A page of another host can plant a cookie without the prefix, to sign a person in as someone else.
    const attacker = newBrowser();
    const path = (await attacker.reachCallback(person)).replace(ORIGIN, '');
    const headers = { Cookie: `halyard_sso=${attacker.begun}`, 'Sec-Fetch-Site': 'cross-site' };
    expect(outcome(await shared.app.call('GET', path, { token: null, headers }))).toBe(expired);
  });

  test('a sign-on that succeeded is refused even if the provider accepts its code twice', async () => {
    let first: unknown;
    provider.tampering.set('/token', (body) => {
      // A provider that forgets what it has answered.
      first ??= body;
      return first;
    });
    const browser = newBrowser();
    const url = await browser.reachCallback(personIn('gus'));
    const cookie = browser.begun;
    expect(outcome(await browser.finish(url))).toBe('/');
    const twice = newBrowser();
    twice.begun = cookie;
    expect(outcome(await twice.finish(url))).toBe('/sign-in?sso=expired');
    expect(twice.browser.id).toBeUndefined();
  });

  const HOUR = 3600;
  test.each<[what: string, change: (claims: Record<string, unknown>) => object, result: string]>([
    ['is as the provider made it', (claims) => claims, '/'],
    ['expired half a minute ago', (claims) => ({ ...claims, exp: now() - 30 }), '/'],
    ['is from half a minute ahead', (claims) => ({ ...claims, iat: now() + 30, nbf: now() + 30 }), '/'],
    ['expired an hour ago', (claims) => ({ ...claims, exp: now() - HOUR }), 'invalid'],
    ['is not valid yet', (claims) => ({ ...claims, nbf: now() + HOUR }), 'invalid'],
    ['is of another issuer', (claims) => ({ ...claims, iss: 'https://id.example' }), 'invalid'],
    ['is for another client', (claims) => ({ ...claims, aud: 'other' }), 'invalid'],
    ['has another nonce', (claims) => ({ ...claims, nonce: 'other' }), 'invalid'],
    ['has no nonce', ({ nonce: _, ...claims }) => claims, 'invalid'],
    ['has no subject', ({ sub: _, ...claims }) => claims, 'invalid'],
    ['has an empty subject', (claims) => ({ ...claims, sub: '' }), 'invalid'],
  ])('an ID token that %s: %s', async (_, change, result) => {
    provider.tampering.set('/token', async (body) => ({
      ...body,
      id_token: await provider.sign(change(claimsIn(String(body.id_token)))),
    }));
    const answer = await newBrowser().signIn(personIn('hal'));
    expect(outcome(answer)).toBe(result === '/' ? '/' : `/sign-in?sso=${result}`);
  });

  test.each<[what: string, token: (claims: Record<string, unknown>) => unknown]>([
    ['signed by someone else', (claims) => provider.sign(claims, 'foreign')],
    ['not signed', (claims) => `${part({ alg: 'none' })}.${part(claims)}.`],
    ['absent', () => undefined],
    ['no token', () => 'abc'],
  ])('an ID token that is %s is refused', async (_, token) => {
    provider.tampering.set('/token', async (body) => ({
      ...body,
      id_token: await token(claimsIn(String(body.id_token))),
    }));
    expect(outcome(await newBrowser().signIn(personIn('ian')))).toBe('/sign-in?sso=invalid');
  });

  test('claims of another person from the UserInfo endpoint are refused', async () => {
    provider.onlyInUserInfo.add('groups');
    provider.tampering.set('/me', (body) => ({ ...body, sub: 'sub-other', groups: ['flags-admins'] }));
    expect(outcome(await newBrowser().signIn(personIn('jan')))).toBe('/sign-in?sso=invalid');
  });

  test('false answers from one network leave places for people elsewhere', async () => {
    const person = personIn('una');
    const crowd = newBrowser();
    crowd.ip = '198.51.100.9';
    const url = (await crowd.reachCallback(person)).replace(/code=[^&]+/, 'code=false');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const before = provider.asked.length;
    const codes = () => provider.asked.slice(before).filter((one) => one === 'POST /token').length;
    provider.tampering.set('/token', async (body) => {
      if ('error' in body) await released;
      return body;
    });
    const answers = Array.from({ length: 60 }, () => crowd.finish(url).then(outcome));
    await until('the provider checks the false answers', () => codes() >= 20);
    expect(outcome(await newBrowser().signIn(person))).toBe('/');
    expect(codes()).toBe(21);
    release();
    const refused = (await Promise.all(answers)).filter((one) => one === '/sign-in?sso=unavailable');
    expect(refused.length).toBeGreaterThanOrEqual(40);
    // Their places are free again.
    expect(outcome(await crowd.signIn(person))).toBe('/');
  });

  test('a person who cancels at the provider returns to the sign-in page, which says so', async () => {
    const answer = await newBrowser().signIn(undefined, '/audit');
    expect(outcome(answer)).toBe('/sign-in?sso=denied&from=%2Faudit');
  });

  test('an error code of the provider that is none is not in the log', async () => {
    const browser = newBrowser();
    const url = await browser.reachCallback(undefined);
    const forged = url.replace('error=access_denied', 'error=see+evil.example');
    expect(outcome(await browser.finish(forged))).toBe('/sign-in?sso=denied');
    expect(shared.app.logged.at(-1)).toContain('the provider answered an unknown error');
    expect(shared.app.logged.join('')).not.toContain('evil.example');
  });

  test.each([
    '//evil.example',
    '/\\evil.example',
    '/\t/evil.example',
    '/x/..//evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    '/api/sso/start',
    `/${'x'.repeat(2000)}`,
    `/${'\u20ac'.repeat(400)}`,
  ])('after signing in the browser does not go to %j', async (from) => {
    expect(outcome(await newBrowser().signIn(personIn('kit'), from))).toBe('/');
    expect(outcome(await newBrowser().signIn(undefined, from))).toBe('/sign-in?sso=denied');
  });

  test('without the provider the sign-in page says so, and passwords work', async () => {
    const gone = await startIdentityProvider(CLIENT);
    gone.close();
    shared.app.useSso(settingsOf(gone));
    const start = () => newBrowser().visit('/api/sso/start?from=%2Faudit').then(outcome);
    expect(await start()).toBe('/sign-in?sso=unavailable&from=%2Faudit');
    const password = new TestBrowser(shared.app);
    expect((await password.signIn('root@example.com')).status).toBe(200);
    const back = await startIdentityProvider({ ...CLIENT, port: Number(new URL(gone.issuer).port) });
    try {
      // The failure is remembered for a moment, so that many sign-ins at once do not burden a provider that is down.
      expect(await start()).toBe('/sign-in?sso=unavailable&from=%2Faudit');
      expect(back.asked).toEqual([]);
      shared.app.node.now += 5000;
      expect(await start()).toStartWith(back.issuer);
    } finally {
      back.close();
    }
    // Its description is known: an hour later it is read again, and the old one serves if that fails.
    shared.app.node.now += 3_600_000;
    for (let twice = 0; twice < 2; twice++) expect(await start()).toStartWith(back.issuer);
  });

  test.each<[what: string, change: (body: Record<string, unknown>) => unknown]>([
    ['names another issuer', (body) => ({ ...body, issuer: 'https://id.example' })],
    ['answers without an end', (body) => ({ ...body, filler: 'x'.repeat(2 * 1024 * 1024) })],
    ['names a page that is a script', (body) => ({ ...body, authorization_endpoint: 'javascript:alert(1)' })],
    ['is not described in JSON', () => 'hello'],
  ])('a provider that %s is not used', async (_, change) => {
    shared.app.useSso(settingsOf(provider));
    provider.tampering.set('/.well-known/openid-configuration', change);
    const answer = await newBrowser().visit('/api/sso/start');
    expect(outcome(answer)).toBe('/sign-in?sso=unavailable');
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test('a provider that has changed its key is asked for the new one at once', async () => {
    const before = await startIdentityProvider(CLIENT);
    shared.app.useSso(settingsOf(before));
    for (const name of ['mia', 'ned'])
      expect(outcome(await newBrowserAt(before).signIn(personIn(name)))).toBe('/');
    expect(before.asked.filter((one) => one === 'GET /jwks').length).toBe(1);
    before.close();
    const port = Number(new URL(before.issuer).port);
    const after = await startIdentityProvider({ ...CLIENT, port, keyId: 'newer' });
    try {
      for (const name of ['mia', 'ned'])
        expect(outcome(await newBrowserAt(after).signIn(personIn(name)))).toBe('/');
      expect(after.asked.filter((one) => one === 'GET /jwks').length).toBe(1);
      // A key that the provider does not have either is asked for once, and refused.
      after.tampering.set('/token', async (body) => {
        const [, ...rest] = String(body.id_token).split('.');
        return { ...body, id_token: [part({ alg: 'RS256', kid: 'unknown' }), ...rest].join('.') };
      });
      expect(outcome(await newBrowserAt(after).signIn(personIn('ned')))).toBe('/sign-in?sso=invalid');
      expect(after.asked.filter((one) => one === 'GET /jwks').length).toBe(2);
    } finally {
      after.close();
    }
  });

  test('the client secret and the code do not follow a redirect of the provider', async () => {
    const asked: string[] = [];
    await using moved = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      fetch: ({ url }) => {
        asked.push(new URL(url).pathname);
        return new Response(null, { status: 307, headers: { Location: '/elsewhere' } });
      },
    });
    shared.app.useSso(settingsOf(provider));
    provider.tampering.set('/.well-known/openid-configuration', (body) => ({
      ...body,
      token_endpoint: `${moved.url.origin}/token`,
    }));
    expect(outcome(await newBrowser().signIn(personIn('rob')))).toBe('/sign-in?sso=unavailable');
    expect(asked).toEqual(['/token']);
  });

  test('a wrong client secret is a failure of the set-up, not of the person', async () => {
    shared.app.useSso(settingsOf(provider, { clientSecret: 'wrong' }));
    expect(outcome(await newBrowser().signIn(personIn('lea')))).toBe('/sign-in?sso=unavailable');
    expect(shared.app.logged.at(-1)).toContain('invalid_client');
  });

  test('neither code, state, verifier, token nor client secret is in the log', async () => {
    shared.app.logged.length = 0;
    const secrets: string[] = [CLIENT.clientSecret];
    provider.tampering.set('/token', (body) => {
      secrets.push(...[body.access_token, body.id_token].map(String));
      return { ...body, id_token: `${body.id_token}x` };
    });
    for (const person of [personIn('pam'), personIn('pam', ['others']), undefined]) {
      const browser = newBrowser();
      const url = await browser.reachCallback(person);
      const begun = JSON.parse(Buffer.from(browser.begun ?? '', 'base64url').toString());
      secrets.push(...Object.values(begun).map(String), new URL(url).searchParams.get('code') ?? 'no code');
      await browser.finish(url);
      await browser.finish(url);
    }
    const log = shared.app.logged.join('');
    expect(log).toContain('a single sign-on was refused');
    const found = secrets.filter((secret) => secret.length > 8 && log.includes(secret));
    expect(found).toEqual([]);
  });

  test('without single sign-on its addresses do not exist', async () => {
    shared.app.useSso(undefined);
    for (const path of ['/api/sso/start', '/api/sso/callback?code=x&state=y']) {
      expect((await shared.app.call('GET', path, { token: null })).json.error).toBe('not_found');
    }
    expect((await shared.app.call('GET', '/api/session', { token: null })).json.sso).toBeUndefined();
  });
});

function now(): number {
  return Math.floor(Date.now() / 1000);
}

function part(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

function claimsIn(token: string): Record<string, unknown> {
  return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
}
