import { afterAll, beforeAll, describe, expect, setDefaultTimeout, spyOn, test } from 'bun:test';
import { until } from '@halyard/testing';
import { HOUR_MS } from '../../domain/clock.ts';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { join, PASSWORD, TestBrowser } from '../../management/api/test-browser.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { takeAttempt } from './attempt-table.ts';
import { checkPassword, PasswordHashes, SIGN_IN_LIMIT } from './sign-in.ts';

test('verifies a password, however its letters were composed', async () => {
  const passwords = new PasswordHashes();
  const hash = await passwords.hash('Gr\u00fc\u00dfe aus Z\u00fcrich');
  expect(hash).toStartWith('$argon2id$v=19$m=19456,t=2,p=1$');
  expect(await passwords.verify('Gru\u0308\u00dfe aus Zu\u0308rich', hash)).toBe(true);
  expect(await passwords.verify('Gru\u00dfe aus Zurich', hash)).toBe(false);
  expect(await passwords.verify('', undefined)).toBe(false);
});

test('an unknown account takes as long as a known one', async () => {
  const passwords = new PasswordHashes();
  const real = Bun.password.verify;
  const verified: unknown[] = [];
  Bun.password.verify = async (_, hash) => {
    verified.push(hash);
    return true;
  };
  try {
    expect(await passwords.verify('whatever it is', undefined)).toBe(false);
  } finally {
    Bun.password.verify = real;
  }
  expect(verified).toEqual([expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$.{43}\$.{43}$/)]);
});

test('runs two hashes at once, queues some, and rejects the rest', async () => {
  const passwords = new PasswordHashes();
  const real = Bun.password.hash;
  const released = Promise.withResolvers<void>();
  let running = 0;
  let most = 0;
  Bun.password.hash = async () => {
    most = Math.max(most, ++running);
    await released.promise;
    running--;
    return 'hash';
  };
  try {
    const all = Array.from({ length: 40 }, () => passwords.hash('a password').catch((error) => error.code));
    released.resolve();
    const results = await Promise.all(all);
    expect(most).toBe(2);
    expect(results.filter((result) => result === 'hash')).toHaveLength(32);
    expect(results.filter((result) => result === 'rate_limited')).toHaveLength(8);
    expect(await passwords.hash('once more')).toBe('hash');
  } finally {
    Bun.password.hash = real;
  }
});

test.each([
  ['eleven char', '12 to 200'],
  ['x'.repeat(201), '12 to 200'],
  ['password1234', 'attacker'],
  [' Ada@Example.com ', 'must not be the e-mail'],
])('rejects the password %j without repeating it', (password, sentence) => {
  const check = () => checkPassword(password, 'ada@example.com');
  expect(check).toThrow(sentence);
  expect(check).not.toThrow(password);
});

test.each(['twelve chars', 'a long passphrase '.repeat(12).slice(0, 200)])(
  'the password %j is taken',
  (password) => {
    expect(() => checkPassword(password, 'ada@example.com')).not.toThrow();
  },
);

setDefaultTimeout(60_000);

describe.each(ENGINES)('sign-ins on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
    await join(app, { email: 'ada@example.com', role: 'admin' });
  });
  afterAll(() => app.close());

  test('locks an account in one network after five failures, for a while, and nowhere else', async () => {
    const { email } = await join(app, { email: 'fay@example.com', role: 'viewer' });
    const there = (who: string, password: string) =>
      new TestBrowser(app, '198.51.100.1').signIn(who, password);
    for (const who of [email, 'nobody@example.com']) {
      for (let count = 0; count < SIGN_IN_LIMIT.failures; count++) {
        expect((await there(who, 'a wrong password')).json.error).toBe('sign_in_failed');
      }
      const locked = await there(` ${who.toUpperCase()}`, PASSWORD);
      expect([locked.status, locked.json.error]).toEqual([429, 'rate_limited']);
      expect(Number(locked.headers.get('Retry-After'))).toBe(SIGN_IN_LIMIT.windowMs / 1000);
    }
    // Neither a colleague in the same network nor the person elsewhere is kept out.
    expect((await there('ada@example.com', PASSWORD)).status).toBe(200);
    expect((await new TestBrowser(app, '198.51.100.2').signIn(email)).status).toBe(200);
    // A successful sign-in unlocks the account on every network.
    expect((await there(email, PASSWORD)).status).toBe(200);
    for (let count = 0; count < SIGN_IN_LIMIT.failures; count++) await there(email, 'a wrong password');
    expect((await there(email, PASSWORD)).status).toBe(429);
    app.node.now += SIGN_IN_LIMIT.windowMs;
    expect((await there(email, PASSWORD)).status).toBe(200);
    for (let count = 0; count < SIGN_IN_LIMIT.failures; count++) await there(email, 'a wrong password');
    expect((await there(email, PASSWORD)).status).toBe(429);
    const [{ id }] = (await app.call('GET', '/api/operators')).json.operators.filter(
      (one: { email: string }) => one.email === email,
    );
    const { token } = (await app.call('POST', `/api/operators/${id}/reset`)).json;
    const body = { token, password: PASSWORD };
    await new TestBrowser(app).call('POST', '/api/invitations/accept', { body });
    // An administrator's link opens the account again.
    expect((await there(email, PASSWORD)).status).toBe(200);
  });

  test('failures of one account from many networks slow its sign-ins without locking it', async () => {
    const { email } = await join(app, { email: 'gus@example.com', role: 'viewer' });
    let address = 0;
    const elsewhere = (password: string) =>
      new TestBrowser(app, `203.0.113.${++address}`).signIn(email, password);
    app.pauses.length = 0;
    for (let count = 0; count < SIGN_IN_LIMIT.slowedFrom; count++) await elsewhere('a wrong password');
    expect(app.pauses).toEqual([]);
    await elsewhere('a wrong password');
    expect(app.pauses).toEqual([SIGN_IN_LIMIT.slowedMs]);
    // More than a few at once do not wait: they would hold connections and memory.
    const gate = Promise.withResolvers<void>();
    app.pause = () => gate.promise;
    const atOnce = Array.from({ length: SIGN_IN_LIMIT.slowedAtOnce }, () => elsewhere('a wrong password'));
    await until('all of them wait', () => app.pauses.length > SIGN_IN_LIMIT.slowedAtOnce);
    const tooMany = await elsewhere(PASSWORD);
    expect([tooMany.status, Number(tooMany.headers.get('Retry-After'))]).toEqual([
      429,
      SIGN_IN_LIMIT.slowedMs / 1000,
    ]);
    gate.resolve();
    expect((await Promise.all(atOnce)).map(({ status }) => status)).toEqual(
      Array(SIGN_IN_LIMIT.slowedAtOnce).fill(401),
    );
    expect((await elsewhere(PASSWORD)).status).toBe(200);
    app.pauses.length = 0;
    await elsewhere('a wrong password');
    expect(app.pauses).toEqual([]);
  });

  test('a network is locked after many failures of any accounts; an office fits behind one address', async () => {
    const there = (last: string) => new TestBrowser(app, `2001:db8:1:2:${last}::1`);
    const { store } = app.context;
    const network = { name: 'network:2001:db8:1:2::/64' };
    const window = { now: app.node.now, windowMs: SIGN_IN_LIMIT.windowMs };
    expect((await there('a').signIn('stranger@example.com', 'a wrong password')).status).toBe(401);
    for (let count = 2; count < SIGN_IN_LIMIT.networkFailures; count++) {
      await takeAttempt(store, [network], window);
    }
    // Sign-ins that succeed count nothing, and neither do those that are refused.
    for (let count = 0; count < 3; count++) {
      expect((await there('a').signIn('ada@example.com')).status).toBe(200);
    }
    expect((await there('b').signIn('another@example.com', 'a wrong password')).status).toBe(401);
    expect((await there('c').signIn('ada@example.com')).json.error).toBe('rate_limited');
    expect((await new TestBrowser(app, '2001:0DB8:1:3::1').signIn('ada@example.com')).status).toBe(200);
  });

  test('answers an unknown account exactly like a wrong password', async () => {
    const refuse = async (email: string) => {
      const { status, text, headers } = await new TestBrowser(app, '203.0.113.9').signIn(
        email,
        'a wrong password',
      );
      return { status, text, headers: [...headers].filter(([name]) => name !== 'x-request-id') };
    };
    expect(await refuse('unknown@example.com')).toEqual(await refuse('ada@example.com'));
  });

  test('refuses a locked account or network from memory, and asks the database again after a second', async () => {
    const there = () => new TestBrowser(app, '192.0.2.55').signIn('hal@example.com', 'a wrong password');
    for (let count = 0; count < SIGN_IN_LIMIT.failures; count++) expect((await there()).status).toBe(401);
    using asked = spyOn(app.context.store, 'unlogged');
    for (let count = 0; count < 10; count++) {
      const { status, headers } = await there();
      expect([status, headers.get('Retry-After')]).toEqual([429, String(SIGN_IN_LIMIT.windowMs / 1000)]);
    }
    expect(asked).toHaveBeenCalledTimes(1);
    app.node.now += 1000;
    expect((await there()).headers.get('Retry-After')).toBe(String(SIGN_IN_LIMIT.windowMs / 1000 - 1));
    expect((await there()).status).toBe(429);
    expect(asked).toHaveBeenCalledTimes(2);
  });

  test('an attempt without a place for its hash writes nothing', async () => {
    using asked = spyOn(app.context.store, 'unlogged');
    const gate = Promise.withResolvers<void>();
    using verify = spyOn(Bun.password, 'verify');
    verify.mockImplementation(() => gate.promise.then(() => false));
    let answered = 0;
    const all = Array.from({ length: 50 }, async (_, index) => {
      const { status } = await new TestBrowser(app, `100.64.${index}.1`).signIn(
        `${index}@example.com`,
        'wrong',
      );
      if (++answered === 18) gate.resolve();
      return status;
    });
    expect((await Promise.all(all)).toSorted()).toEqual([...Array(32).fill(401), ...Array(18).fill(429)]);
    // Counted before each attempt, and nothing refunded after it.
    expect(asked).toHaveBeenCalledTimes(32);
  });

  test('an attempt that succeeds is refunded in one transaction', async () => {
    using counted = spyOn(app.context.store, 'unlogged');
    expect((await new TestBrowser(app, '192.0.2.56').signIn('ada@example.com')).status).toBe(200);
    // Before the attempt and after it.
    expect(counted).toHaveBeenCalledTimes(2);
  });

  test('an unreachable log does not count as a failed sign-in', async () => {
    const browser = new TestBrowser(app, '192.0.2.77');
    app.node.isLost = true;
    for (let count = 0; count < 2 * SIGN_IN_LIMIT.failures; count++) {
      expect((await browser.signIn('ada@example.com')).status).toBe(500);
    }
    app.node.isLost = false;
    expect((await browser.signIn('ada@example.com')).status).toBe(200);
  });

  test('a sign-in ends the session that its browser had, whoever had it', async () => {
    const { email } = await join(app, { email: 'mia@example.com', role: 'viewer' });
    const other = await join(app, { email: 'max@example.com', role: 'viewer' });
    const browser = new TestBrowser(app);
    const isLive = async (id: string | undefined) => {
      const kept = new TestBrowser(app);
      kept.id = id;
      return (await kept.call('GET', '/api/session')).json.signedIn;
    };
    await browser.signIn(email);
    const { id: first } = browser;
    // A wrong password ends nothing.
    expect((await browser.signIn(email, 'not the password')).status).toBe(401);
    expect(await isLive(first)).toBe(true);
    await browser.signIn(other.email);
    const { id: second } = browser;
    expect([await isLive(first), await isLive(second), await isLive(other.browser.id)]).toEqual([
      false,
      true,
      true,
    ]);
    const { entries } = (await app.call('GET', '/api/audit?limit=3')).json;
    expect(entries.map(({ action, target }: Record<string, string>) => [action, target])).toContainEqual([
      'session.ended',
      email,
    ]);
    const { token } = (
      await app.call('POST', '/api/invitations', { body: { email: 'moe@example.com', role: 'viewer' } })
    ).json;
    await browser.call('POST', '/api/invitations/accept', { body: { token, password: PASSWORD } });
    expect([await isLive(second), await isLive(browser.id)]).toEqual([false, true]);
  });

  test('a session ends after 12 hours without use, and after 7 days in any case', async () => {
    const ada = new TestBrowser(app);
    await ada.signIn('ada@example.com');
    const isIn = async () => (await ada.call('GET', '/api/whoami')).status === 200;
    app.node.now += 12 * HOUR_MS;
    expect(await isIn()).toBe(false);
    expect((await ada.call('GET', '/api/session')).json.signedIn).toBe(false);
    await ada.signIn('ada@example.com');
    const start = app.node.now;
    const end = start + 7 * 24 * HOUR_MS;
    while (app.node.now + 11 * HOUR_MS < end) {
      app.node.now += 11 * HOUR_MS;
      expect(await isIn()).toBe(true);
      // The use is noted in the background; the next request would otherwise meet the old one.
      const noted = async () =>
        app.home.database.query('SELECT 1 FROM sessions WHERE last_used_at = $1', [app.node.now]);
      await until('the use is noted', async () => (await noted()).length > 0);
    }
    const { expiresAt } = (await ada.call('GET', '/api/session')).json;
    expect(Date.parse(expiresAt)).toBe(end);
    app.node.now = end - 1;
    expect(await isIn()).toBe(true);
    app.node.now = end;
    expect(await isIn()).toBe(false);
  });
});
