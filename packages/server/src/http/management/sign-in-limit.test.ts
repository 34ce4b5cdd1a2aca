import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SIGN_IN_LIMIT } from '../../management/sign-in-limit.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { openTestApp, type TestApp } from './test-app.ts';
import { join, PASSWORD, TestBrowser } from './test-browser.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('failed sign-ins on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
    await join(app, { email: 'ada@example.com', role: 'admin' });
  });
  afterAll(() => app.close());

  test('an account is locked after five failures, whoever asks, and only for a while', async () => {
    const { email } = await join(app, { email: 'fay@example.com', role: 'viewer' });
    let address = 0;
    // Every time from somewhere else, so that only the account is counted.
    const attempt = (who: string, password: string) =>
      new TestBrowser(app, `198.51.100.${++address}`).signIn(who, password);
    for (const who of [email, 'nobody@example.com']) {
      for (let count = 0; count < SIGN_IN_LIMIT.failures; count++) {
        expect((await attempt(who, 'a wrong password')).json.error).toBe('sign_in_failed');
      }
      const locked = await attempt(` ${who.toUpperCase()}`, PASSWORD);
      expect([locked.status, locked.json.error]).toEqual([429, 'rate_limited']);
      expect(Number(locked.headers.get('Retry-After'))).toBe(SIGN_IN_LIMIT.windowMs / 1000);
    }
    app.node.now += SIGN_IN_LIMIT.windowMs;
    expect((await attempt(email, PASSWORD)).status).toBe(200);
    for (let count = 0; count < SIGN_IN_LIMIT.failures; count++) await attempt(email, 'a wrong password');
    expect((await attempt(email, PASSWORD)).status).toBe(429);
    const [{ id }] = (await app.call('GET', '/api/operators')).json.operators.filter(
      (one: { email: string }) => one.email === email,
    );
    const { token } = (await app.call('POST', `/api/operators/${id}/reset`)).json;
    const body = { token, password: PASSWORD };
    await new TestBrowser(app).call('POST', '/api/invitations/accept', { body });
    // An administrator's link opens the account again.
    expect((await attempt(email, PASSWORD)).status).toBe(200);
  });

  test('an address is locked after five failures of any accounts; sign-ins that succeed count nothing', async () => {
    const there = (last: string) => new TestBrowser(app, `2001:db8:1:2:${last}::1`);
    for (let count = 0; count < 2 * SIGN_IN_LIMIT.failures; count++) {
      expect((await there('a').signIn('ada@example.com')).status).toBe(200);
    }
    for (let count = 0; count < SIGN_IN_LIMIT.failures; count++) {
      expect((await there(`${count}`).signIn(`guess${count}@example.com`, 'a wrong password')).status).toBe(
        401,
      );
    }
    expect((await there('b').signIn('ada@example.com')).json.error).toBe('rate_limited');
    expect((await new TestBrowser(app, '2001:db8:1:3::1').signIn('ada@example.com')).status).toBe(200);
  });

  test('an unknown account is refused word for word as a known one with a wrong password', async () => {
    const refuse = async (email: string) => {
      const { status, text, headers } = await new TestBrowser(app, '203.0.113.9').signIn(
        email,
        'a wrong password',
      );
      return { status, text, headers: [...headers].filter(([name]) => name !== 'x-request-id') };
    };
    expect(await refuse('unknown@example.com')).toEqual(await refuse('ada@example.com'));
  });

  test('a log out of reach is no failure of whoever signs in', async () => {
    const browser = new TestBrowser(app, '192.0.2.77');
    app.node.isLost = true;
    for (let count = 0; count < 2 * SIGN_IN_LIMIT.failures; count++) {
      expect((await browser.signIn('ada@example.com')).status).toBe(500);
    }
    app.node.isLost = false;
    expect((await browser.signIn('ada@example.com')).status).toBe(200);
  });
});
