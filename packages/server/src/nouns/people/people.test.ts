import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { HOUR_MS } from '../../domain/clock.ts';
import { ADMIN_TOKEN, openTestApp, type TestApp, type TestRequest } from '../../management/api/test-app.ts';
import { join, ORIGIN, PASSWORD, TestBrowser } from '../../management/api/test-browser.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { offerSetup } from './invitations.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('people on $name', (engine: TestEngine) => {
  let app: TestApp;
  let ada: TestBrowser;
  /** Everything secret that came by; none of it may turn up anywhere. */
  const secrets: string[] = [PASSWORD];

  beforeAll(async () => {
    app = await openTestApp(engine);
    ada = new TestBrowser(app);
  });
  afterAll(() => app.close());

  const setupToken = async (maker = 'node:a') => {
    const { token, link } = await offerSetup(app.context, maker);
    expect(link).toBe(`${ORIGIN}/setup#${token}`);
    secrets.push(token);
    return token;
  };

  test('the first administrator is set up once, by any link that was not replaced', async () => {
    expect((await ada.call('GET', '/api/session')).json).toEqual({ signedIn: false, setupNeeded: true });
    const [replaced, other, mine] = [await setupToken(), await setupToken('node:b'), await setupToken()];
    const body = { email: ' Ada@Example.com ', name: ' Ada ', password: PASSWORD };
    const setUp = (token: string, more = {}) =>
      ada.call('POST', '/api/setup', { body: { ...body, token, ...more } });
    expect((await setUp(replaced)).json.error).toBe('invitation_invalid');
    const inspected = await ada.call('POST', '/api/invitations/inspect', { body: { token: mine } });
    expect(inspected.json).toMatchObject({ kind: 'setup', role: 'admin' });
    expect((await setUp(mine, { password: 'too short' })).json.error).toBe('invalid_argument');
    expect((await setUp(mine, { email: 'nobody' })).json.error).toBe('invalid_argument');
    expect(
      (await ada.call('POST', '/api/invitations/accept', { body: { token: mine, password: PASSWORD } }))
        .status,
    ).toBe(410);

    const joined = await setUp(mine);
    expect(joined.status).toBe(201);
    expect(joined.json).toMatchObject({
      signedIn: true,
      setupNeeded: false,
      operator: { email: 'ada@example.com', name: 'Ada', role: 'admin', canChangeProtected: true },
    });
    for (const token of [mine, other]) expect((await setUp(token)).json.error).toBe('invitation_invalid');
    expect((await ada.call('GET', '/api/session')).json.operator.email).toBe('ada@example.com');
  });

  test('an invited operator joins, gets another role, another password, and is removed', async () => {
    const invitation = { email: 'Bob@Example.com', role: 'viewer', canChangeProtected: false };
    const first = (await ada.call('POST', '/api/invitations', { body: invitation })).json;
    const made = await ada.call('POST', '/api/invitations', { body: invitation });
    const { token, link, seq, ...record } = made.json;
    expect(seq).toBeGreaterThan(first.seq);
    secrets.push(first.token, token);
    expect(link).toBe(`${ORIGIN}/invitation#${token}`);
    expect(record).toMatchObject({
      kind: 'invite',
      email: 'bob@example.com',
      createdBy: 'operator:ada@example.com',
    });
    expect((await ada.call('GET', '/api/invitations')).json).toEqual({ invitations: [record] });

    const bob = new TestBrowser(app);
    const accept = (body: object) => bob.call('POST', '/api/invitations/accept', { body });
    expect((await accept({ token: first.token, password: PASSWORD })).status).toBe(410);
    expect((await accept({ token, password: 'bob@example.com' })).json.message).toContain(
      'must not be the e-mail',
    );
    const { id } = (await accept({ token, name: 'Bob', password: PASSWORD })).json.operator;
    expect((await accept({ token, password: PASSWORD })).json.error).toBe('invitation_invalid');
    expect((await ada.call('GET', '/api/invitations')).json.invitations).toEqual([]);
    expect((await ada.call('POST', '/api/invitations', { body: invitation })).json.error).toBe(
      'already_exists',
    );

    const change = { name: 'Robert', role: 'editor', canChangeProtected: true };
    expect((await ada.call('PATCH', `/api/operators/${id}`, { body: change })).json).toMatchObject(change);
    expect((await bob.call('GET', '/api/whoami')).json.error).toBe('not_signed_in');
    expect((await bob.signIn('BOB@example.com')).status).toBe(200);

    const reset = (await ada.call('POST', `/api/operators/${id}/reset`)).json;
    secrets.push(reset.token);
    expect((await bob.call('GET', '/api/whoami')).json).toMatchObject({
      name: 'bob@example.com',
      role: 'editor',
    });
    const laptop = new TestBrowser(app);
    const password = 'quite another password';
    secrets.push(password);
    const resetBody = { token: reset.token, password };
    expect((await laptop.call('POST', '/api/invitations/accept', { body: resetBody })).status).toBe(201);
    expect((await bob.call('GET', '/api/whoami')).status).toBe(401);
    expect((await bob.signIn('bob@example.com')).json.error).toBe('sign_in_failed');
    expect((await laptop.call('GET', '/api/whoami')).status).toBe(200);

    const open = (await ada.call('POST', `/api/operators/${id}/reset`)).json.token;
    expect((await ada.call('DELETE', `/api/operators/${id}`)).status).toBe(200);
    expect((await laptop.call('GET', '/api/whoami')).json.error).toBe('not_signed_in');
    expect((await laptop.signIn('bob@example.com', password)).json.error).toBe('sign_in_failed');
    expect((await accept({ token: open, password })).json.error).toBe('invitation_invalid');
    expect((await ada.call('DELETE', `/api/operators/${id}`)).json.error).toBe('not_found');

    const { entries } = (await ada.call('GET', '/api/audit?target=bob@example.com&limit=1000')).json;
    const actions = entries.map((entry: { action: string }) => entry.action).reverse();
    expect(actions).toEqual([
      ...['operator.invited', 'invitation.revoked', 'operator.invited', 'operator.joined', 'session.started'],
      ...['operator.changed', 'session.started', 'operator.reset_offered'],
      ...['operator.password_changed', 'session.started'],
      ...['operator.reset_offered', 'invitation.revoked', 'operator.removed'],
    ]);
    const changed = entries.find((entry: { action: string }) => entry.action === 'operator.changed');
    expect(changed.before).toEqual({ name: 'Bob', role: 'viewer', canChangeProtected: false });
    expect([changed.after, changed.actor]).toEqual([change, 'operator:ada@example.com']);
  });

  test('the last administrator cannot be removed or demoted, not even when two requests come at once', async () => {
    const { operators } = (await ada.call('GET', '/api/operators')).json;
    const only = operators.find((one: { email: string }) => one.email === 'ada@example.com').id;
    const refused = [
      await ada.call('DELETE', `/api/operators/${only}`),
      await ada.call('PATCH', `/api/operators/${only}`, { body: { role: 'editor' } }),
    ];
    for (const { status, json } of refused) {
      expect([status, json.message]).toEqual([400, expect.stringContaining('the only administrator')]);
    }
    const { id, browser } = await join(app, { email: 'second@example.com', role: 'admin' });
    const [one, two] = await Promise.all([
      ada.call('PATCH', `/api/operators/${id}`, { body: { role: 'editor' } }),
      browser.call('PATCH', `/api/operators/${only}`, { body: { role: 'editor' } }),
    ]);
    expect([one.status, two.status].sort()).not.toEqual([200, 200]);
    const admins = (await app.call('GET', '/api/operators')).json.operators.filter(
      (operator: { role: string }) => operator.role === 'admin',
    );
    expect(admins).toHaveLength(1);
    // The next tests need Ada as she was, whichever request won.
    await app.call('PATCH', `/api/operators/${only}`, { body: { role: 'admin' } });
    await app.call('DELETE', `/api/operators/${id}`);
    ada = new TestBrowser(app);
    expect((await ada.signIn('ada@example.com')).status).toBe(200);
  });

  test('an e-mail has no invisible characters, and a name loses them', async () => {
    for (const email of ['ro\u00adot@x.io', 'root\u200b@x.io', 'root@x\u202e.io', 'a\ud800@x.io']) {
      const { status, json } = await app.call('POST', '/api/invitations', {
        body: { email, role: 'viewer' },
      });
      expect([email, status, json.error]).toEqual([email, 400, 'invalid_argument']);
    }
    const email = `${'x'.repeat(150)}@example.com`;
    const { operator } = await accept({ email });
    expect(operator.name).toBe('x'.repeat(100));
    const named = await accept({ email: 'named@example.com', name: ' \u202eEve\u200b ' });
    expect(named.operator.name).toBe('Eve');

    async function accept({ email, name }: { readonly email: string; readonly name?: string }) {
      const { token } = (await app.call('POST', '/api/invitations', { body: { email, role: 'viewer' } }))
        .json;
      const body = { token, name, password: PASSWORD };
      const answer = await new TestBrowser(app).call('POST', '/api/invitations/accept', { body });
      await app.call('DELETE', `/api/operators/${answer.json.operator.id}`);
      return answer.json;
    }
  });

  test('links expire, and can be revoked', async () => {
    const invite = async (email: string) =>
      (await app.call('POST', '/api/invitations', { body: { email, role: 'viewer' } })).json;
    const inspect = (token: string) => ada.call('POST', '/api/invitations/inspect', { body: { token } });
    const { id, token } = await invite('carol@example.com');
    expect((await app.call('DELETE', `/api/invitations/${id}`)).status).toBe(200);
    expect((await app.call('DELETE', `/api/invitations/${id}`)).json.error).toBe('not_found');
    expect((await inspect(token)).json.error).toBe('invitation_invalid');
    const late = await invite('carol@example.com');
    app.node.now += 7 * 24 * HOUR_MS - 1;
    expect((await inspect(late.token)).json).toMatchObject({ kind: 'invite', email: 'carol@example.com' });
    app.node.now += 1;
    const answers = [
      await inspect(late.token),
      await inspect(token),
      await inspect('hin_unknown'),
      await inspect(''),
    ];
    for (const { status, text } of answers) expect([status, text]).toEqual([410, answers[0]?.text ?? '']);
    expect((await app.call('GET', '/api/invitations')).json.invitations).toEqual([]);
    await ada.signIn('ada@example.com');
  });

  test('what a wrong clock made in the future, a link or a session, does not last until then', async () => {
    const now = app.node.now;
    app.node.now += 30 * 24 * HOUR_MS;
    const body = { email: 'early@example.com', role: 'viewer' };
    const { token } = (await app.call('POST', '/api/invitations', { body })).json;
    const guest = new TestBrowser(app);
    await guest.signIn('ada@example.com');
    expect((await guest.call('GET', '/api/whoami')).status).toBe(200);
    app.node.now = now;
    expect((await guest.call('GET', '/api/whoami')).status).toBe(401);
    const inspected = await guest.call('POST', '/api/invitations/inspect', { body: { token } });
    expect(inspected.status).toBe(410);
    expect((await app.call('GET', '/api/invitations')).json.invitations).toEqual([]);
  });

  test('links of the administration token end when it is replaced, and those of others stay', async () => {
    const invited = (email: string, made: TestRequest = {}) =>
      app.call('POST', '/api/invitations', { body: { email, role: 'viewer' }, ...made });
    const maker = { body: { name: 'other maker', role: 'admin' } };
    const { token } = (await app.call('POST', '/api/tokens', maker)).json;
    const links = [
      (await invited('by-settings@example.com')).json,
      (await invited('by-token@example.com', { token })).json,
    ];
    const colleague = await join(app, { email: 'colleague@example.com', role: 'viewer' });
    links.push((await app.call('POST', `/api/operators/${colleague.id}/reset`)).json);
    const inspected = async () => {
      const statuses: number[] = [];
      for (const { token: link } of links)
        statuses.push((await ada.call('POST', '/api/invitations/inspect', { body: { token: link } })).status);
      return statuses;
    };
    expect(await inspected()).toEqual([200, 200, 200]);
    app.node.adminToken = `hat_${'b'.repeat(43)}`;
    expect(await inspected()).toEqual([410, 200, 410]);
    const open = (await app.call('GET', '/api/invitations', { token })).json.invitations;
    expect(open.map((link: { email: string }) => link.email)).toEqual(['by-token@example.com']);
    app.node.adminToken = ADMIN_TOKEN;
    expect(await inspected()).toEqual([200, 200, 200]);
    for (const { id } of links) await app.call('DELETE', `/api/invitations/${id}`);
  });

  test.each(['removed', 'demoted', 'revoked', 'expired'] as const)(
    'the open links of a maker who was %s end, and those of others stay',
    async (how) => {
      const maker = await join(app, { email: `maker-${how}@example.com`, role: 'admin' });
      const colleague = await join(app, { email: `colleague-${how}@example.com`, role: 'viewer' });
      const expiresAt = new Date(app.node.now + HOUR_MS).toISOString();
      const body = { name: `maker-${how}`, role: 'admin', ...(how === 'expired' && { expiresAt }) };
      const { id: tokenId, token } = (await app.call('POST', '/api/tokens', { body })).json;
      const call = (method: string, path: string, request = {}) =>
        how === 'revoked' || how === 'expired'
          ? app.call(method, path, { token, ...request })
          : maker.browser.call(method, path, request);
      const invitation = (name: string) => ({ body: { email: `${name}-${how}@example.com`, role: 'admin' } });
      const invited = (await call('POST', '/api/invitations', invitation('friend'))).json;
      const reset = (await call('POST', `/api/operators/${colleague.id}/reset`)).json;
      const others = (await app.call('POST', '/api/invitations', invitation('other'))).json;
      if (how === 'removed') await app.call('DELETE', `/api/operators/${maker.id}`);
      if (how === 'demoted') {
        await app.call('PATCH', `/api/operators/${maker.id}`, { body: { role: 'editor' } });
      }
      if (how === 'revoked') await app.call('DELETE', `/api/tokens/${tokenId}`);
      if (how === 'expired') {
        app.node.now += HOUR_MS;
        // Another token of that name is not the one that made them.
        const again = { body: { name: body.name, role: 'admin' } };
        expect((await app.call('POST', '/api/tokens', again)).status).toBe(201);
      }
      const accept = (link: { readonly token: string }) =>
        new TestBrowser(app).call('POST', '/api/invitations/accept', {
          body: { token: link.token, password: PASSWORD },
        });
      for (const link of [invited, reset]) {
        const { status, json } = await accept(link);
        expect([status, json.error]).toEqual([410, 'invitation_invalid']);
      }
      const { invitations } = (await app.call('GET', '/api/invitations')).json;
      expect(invitations.map(({ id }: { id: string }) => id)).toEqual([others.id]);
      expect((await accept(others)).status).toBe(201);
    },
  );

  test('each sign-in has its own id, and a sign-out ends it permanently', async () => {
    const browser = new TestBrowser(app);
    // A session id that an attacker planted before the sign-in is not used.
    browser.id = `hss_${'x'.repeat(43)}`;
    await browser.signIn('ada@example.com');
    const first = browser.id ?? '';
    expect(first).toMatch(/^hss_[0-9A-Za-z]{43}$/);
    expect(first).not.toBe(`hss_${'x'.repeat(43)}`);
    await browser.signIn('ada@example.com');
    const second = browser.id ?? '';
    expect(second).not.toBe(first);
    secrets.push(first, second);
    const left = await browser.call('DELETE', '/api/session');
    expect(left.status).toBe(200);
    expect(left.headers.getSetCookie().every((cookie) => cookie.includes('=; Path=/; Max-Age=0'))).toBe(true);
    browser.id = second;
    expect((await browser.call('GET', '/api/whoami')).json.error).toBe('not_signed_in');
    expect((await browser.call('DELETE', '/api/session')).status).toBe(200);
  });

  test('a new password requires the current one and ends the other sessions', async () => {
    const { email, browser } = await join(app, { email: 'dora@example.com', role: 'viewer' });
    const phone = new TestBrowser(app);
    await phone.signIn(email);
    const change = (current: string, next: string) =>
      browser.call('POST', '/api/session/password', { body: { current, next } });
    expect((await change('not the password', 'a new long password')).json.error).toBe('sign_in_failed');
    expect((await change(PASSWORD, 'short')).json.message).toContain('12 to 200 characters');
    expect((await change(PASSWORD, 'x'.repeat(201))).json.error).toBe('invalid_argument');
    expect((await change(PASSWORD, email)).json.error).toBe('invalid_argument');
    expect((await change(PASSWORD, 'a new long password')).status).toBe(200);
    secrets.push('a new long password');
    expect((await phone.call('GET', '/api/whoami')).json.error).toBe('not_signed_in');
    expect((await browser.call('GET', '/api/whoami')).status).toBe(200);
    expect((await phone.signIn(email)).json.error).toBe('sign_in_failed');
    expect((await phone.signIn(email, 'a new long password')).status).toBe(200);
    const byToken = { body: { current: PASSWORD, next: PASSWORD } };
    expect((await app.call('POST', '/api/session/password', byToken)).json.error).toBe('invalid_argument');
  });

  test('changing a protected environment needs the permission and a confirmation', async () => {
    const { path } = await app.project();
    const editor = (await join(app, { email: 'eve@example.com', role: 'editor' })).browser;
    const trusted = await join(app, { email: 'tom@example.com', role: 'editor', canChangeProtected: true });
    const write = (browser: TestBrowser, environment: string, headers = {}) =>
      browser.call('PUT', `${path}/environments/${environment}/flags/a`, {
        body: { enabled: true },
        headers,
      });
    const confirmed = { 'X-Confirm-Environment': 'staging, production' };
    expect((await write(editor, 'development')).status).toBe(200);
    expect((await write(editor, 'production', confirmed)).json.error).toBe('forbidden');
    for (const browser of [trusted.browser, ada]) {
      expect((await write(browser, 'production')).json.error).toBe('confirmation_required');
      const elsewhere = { 'X-Confirm-Environment': 'staging' };
      expect((await write(browser, 'production', elsewhere)).status).toBe(428);
      expect((await write(browser, 'production', confirmed)).status).toBe(200);
    }
    const body = { name: 'careful', role: 'editor', canChangeProtected: false };
    const { token } = (await app.call('POST', '/api/tokens', { body })).json;
    const byToken = await app.call('PUT', `${path}/environments/production/flags/a`, {
      token,
      body: { enabled: false },
    });
    expect(byToken.json.error).toBe('forbidden');
  });

  test('no secret is in the log, the database or any answer to a read', async () => {
    expect((await new TestBrowser(app).signIn('guess@example.com', 'a wrong password')).status).toBe(401);
    secrets.push('a wrong password', 'guess@example.com');
    const { operator } = (await ada.call('GET', '/api/session')).json;
    const reads = ['/api/session', '/api/operators', '/api/invitations', '/api/tokens', '/api/whoami'];
    const answers = await Promise.all(
      [...reads, '/api/audit?limit=1000', `/api/audit?target=${operator.email}`].map((path) =>
        ada.call('GET', path),
      ),
    );
    const tables = ['operators', 'sessions', 'invitations', 'sign_in_failures', 'audit_log', 'change_log'];
    const rows = await Promise.all(tables.map((table) => app.home.database.query(`SELECT * FROM ${table}`)));
    const everything = JSON.stringify([app.logged, answers.map(({ text }) => text), rows]);
    for (const secret of [...secrets, ada.id ?? '']) {
      expect(secret.length).toBeGreaterThan(10);
      expect(everything).not.toContain(secret);
    }
    const seen = JSON.stringify([app.logged, answers.map(({ text }) => text)]);
    expect(seen).not.toContain('$argon2id$');
    for (const { digest } of await app.home.database.query<{ digest: string }>(
      'SELECT digest FROM sessions',
    )) {
      expect(seen).not.toContain(digest);
    }
    expect(app.logged.some((line) => line.includes('a sign-in was refused'))).toBe(true);
    expect(app.logged.join()).not.toContain('@example.com');
  });
});
