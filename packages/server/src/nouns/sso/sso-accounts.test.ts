import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { startIdentityProvider, type TestIdentityProvider } from '@halyard/testing/identity-provider';
import pino from 'pino';
import type { SsoSettings } from '../../domain/sso.ts';
import { ORIGIN, PASSWORD, TestBrowser } from '../../management/api/test-browser.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { CLIENT, outcome, personIn, sessionOf, settingsOf, sharedApp } from './test-sign-on.ts';

setDefaultTimeout(60_000);

let provider: TestIdentityProvider;
beforeAll(async () => {
  provider = await startIdentityProvider(CLIENT);
});
afterAll(() => provider.close());

describe.each(ENGINES)('the only administrator on $name', (engine: TestEngine) => {
  const shared = sharedApp(engine, () => provider);
  const warnings = () => shared.app.logged.filter((line) => line.includes('no administrator is left'));

  test.each([
    ['another role', ['devs'], 'root'],
    ['no role', [], 'boss'],
  ])('whose groups give %s is reported in the log', async (_what, groups, name) => {
    if (name === 'boss') await shared.signedIn(personIn(name, ['flags-admins']));
    const before = warnings().length;
    await shared.newBrowser().signIn(personIn(name, groups));
    expect(warnings().length).toBe(before + 1);
    // Only when it happens.
    await shared.newBrowser().signIn(personIn(name, groups));
    expect(warnings().length).toBe(before + 1);
  });
});

describe.each(ENGINES)('the accounts of single sign-on on $name', (engine: TestEngine) => {
  const shared = sharedApp(engine, () => provider);
  const { newBrowser, signedIn, operatorOf, auditOf } = shared;

  test('a person who is here for the first time gets an account with the role of the groups', async () => {
    const browser = newBrowser();
    const url = await browser.reachCallback(
      personIn('ada', ['release', 'staff']),
      '/projects/shop/flags?q=new',
    );

    const answer = await browser.finish(url);
    expect(outcome(answer)).toBe('/projects/shop/flags?q=new');
    expect(answer.headers.get('Referrer-Policy')).toBe('no-referrer');
    expect(answer.headers.get('Cache-Control')).toBe('no-store');
    expect(answer.headers.getSetCookie()).toEqual([
      '__Host-halyard_sso=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax; Secure',
      'halyard_sso=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
      expect.stringMatching(
        /^__Host-halyard_session=hss_\w{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Lax; Secure$/,
      ),
    ]);

    const known = {
      email: 'ada@example.com',
      name: 'ada',
      role: 'editor',
      canChangeProtected: true,
      signIn: 'sso',
    };
    expect(await sessionOf(browser)).toMatchObject({ signedIn: true, operator: known });
    expect(await operatorOf('ada@example.com')).toMatchObject(known);

    const entries = await auditOf('ada@example.com');
    expect(entries.map((one: { action: string }) => one.action)).toEqual([
      'session.started',
      'operator.joined',
    ]);
    expect(entries[0]).toMatchObject({
      actor: 'operator:ada@example.com',
      note: 'single sign-on',
      ip: '192.0.2.7',
    });

    // There is no password to guess, to change or to reset.
    for (const password of ['', PASSWORD]) {
      const refused = await new TestBrowser(shared.app, '203.0.113.9').signIn('ada@example.com', password);
      expect(refused.json.error).toBe('sign_in_failed');
    }

    const change = await browser.browser.call('POST', '/api/session/password', {
      body: { current: PASSWORD, next: PASSWORD },
    });
    const { id } = await operatorOf('ada@example.com');
    const reset = await shared.app.call('POST', `/api/operators/${id}/reset`);
    for (const { json } of [change, reset]) {
      expect(json.error).toBe('invalid_argument');
      expect(json.message).toContain('single sign-on and ha');
    }
  });

  test('the groups decide the role at each sign-in, and nothing else does', async () => {
    const first = await signedIn(personIn('bob', ['flags-admins', 'devs']));
    expect((await sessionOf(first)).operator.role).toBe('admin');
    const { id } = await operatorOf('bob@example.com');
    const invited = await first.browser.call('POST', '/api/invitations', {
      body: { email: 'guest@example.com', role: 'admin' },
    });
    expect(invited.status).toBe(201);
    const same = await signedIn(personIn('bob', ['flags-admins']));
    expect((await sessionOf(first)).signedIn).toBe(true);
    for (const change of [{ role: 'viewer' }, { canChangeProtected: false }]) {
      const refused = await shared.app.call('PATCH', `/api/operators/${id}`, { body: change });
      expect(refused.json.message).toContain('their groups');
    }
    expect((await shared.app.call('PATCH', `/api/operators/${id}`, { body: { name: 'Bob' } })).status).toBe(
      200,
    );
    const lowered = await signedIn(personIn('bob', ['devs']));
    expect((await sessionOf(lowered)).operator).toMatchObject({ role: 'editor', name: 'Bob' });
    for (const browser of [first, same]) expect((await sessionOf(browser)).signedIn).toBe(false);
    // The link of an administrator who no longer is one has ended.
    const { token } = invited.json;
    const inspected = await new TestBrowser(shared.app).call('POST', '/api/invitations/inspect', {
      body: { token },
    });
    expect(inspected.json.error).toBe('invitation_invalid');
  });

  test('a role can be limited to a project, and counts there beside the role for all', async () => {
    for (const name of ['shop', 'deck']) await shared.app.call('POST', '/api/projects', { body: { name } });
    const shop = { project: 'shop', role: 'editor', canChangeProtected: true };
    const first = await signedIn(personIn('sam', ['shop-devs', 'shop-leads', 'lost']));
    expect((await sessionOf(first)).operator).toMatchObject({ role: 'none', projects: [shop] });
    const seen = async () => (await first.browser.call('GET', '/api/projects')).json.projects;
    expect((await seen()).map(({ name }: { name: string }) => name)).toEqual(['shop']);
    const deck = { project: 'deck', role: 'admin', canChangeProtected: true };
    const second = await signedIn(personIn('sam', ['staff', 'deck-ops', 'shop-leads']));
    expect((await sessionOf(second)).operator).toMatchObject({ role: 'viewer', projects: [deck, shop] });
    expect((await sessionOf(first)).signedIn).toBe(false);
    const { id } = await operatorOf('sam@example.com');
    const change = await shared.app.call('PATCH', `/api/operators/${id}`, { body: { projects: [] } });
    expect(change.json.message).toContain('their groups');
    expect(outcome(await newBrowser().signIn(personIn('sam', ['lost'])))).toBe('/sign-in?sso=no_role');
    shared.app.useSso(settingsOf(provider, { defaultRole: 'viewer' }));
    const third = await signedIn(personIn('sam', ['shop-leads']));
    expect((await sessionOf(third)).operator).toMatchObject({ role: 'viewer', projects: [shop] });
  });

  test('a person who left all groups is refused, and their sessions and their role end', async () => {
    const before = await signedIn(personIn('cid', ['devs']));
    const browser = newBrowser();
    const answer = await browser.signIn(personIn('cid', ['others']), '/audit');
    expect(outcome(answer)).toBe('/sign-in?sso=no_role&from=%2Faudit');
    expect(browser.browser.id).toBeUndefined();
    expect((await sessionOf(before)).signedIn).toBe(false);
    expect(await operatorOf('cid@example.com')).toMatchObject({ role: 'none' });
    const [refused] = await auditOf('cid@example.com');
    expect(refused).toMatchObject({ action: 'session.refused', after: { reason: 'no_role' } });
    // Also where the role was the lowest already.
    const viewer = await signedIn(personIn('cid', ['staff']));
    await newBrowser().signIn(personIn('cid', []));
    expect((await sessionOf(viewer)).signedIn).toBe(false);
    expect((await sessionOf(await signedIn(personIn('cid', ['devs'])))).operator.role).toBe('editor');
  });

  test('the log says why a person has no role, without the names of their groups', async () => {
    const whyRefused = async (changes: Partial<SsoSettings>, claims: object) => {
      shared.app.useSso(settingsOf(provider, changes));
      const person = personIn('quinn', ['secret-club'], claims);
      expect(outcome(await newBrowser().signIn(person))).toBe('/sign-in?sso=no_role');
      const line = shared.app.logged.at(-1) ?? '';
      expect(line).not.toContain('secret-club');
      return JSON.parse(line).reason;
    };
    expect(await whyRefused({}, {})).toBe('1 group, none of them in HALYARD_OIDC_ROLES');
    expect(await whyRefused({}, { groups: ['lost', 'secret-club'] })).toBe(
      '2 groups, whose roles in HALYARD_OIDC_ROLES are all in projects that do not exist',
    );
    const missing =
      'the provider sent no claim "groups", neither in the ID token nor from its UserInfo endpoint';
    expect(await whyRefused({}, { groups: undefined })).toBe(missing);
    const offersGroups = (body: Record<string, unknown>) => ({
      ...body,
      scopes_supported: ['openid', 'email', 'profile', 'groups'],
    });
    provider.tampering.set('/.well-known/openid-configuration', offersGroups);
    expect(await whyRefused({}, { groups: undefined })).toBe(
      `${missing}; it has the scope "groups", which HALYARD_OIDC_SCOPES lacks`,
    );
  });

  test.each<[settings: Partial<SsoSettings>, claims: object, outcome: string]>([
    [{}, { groups: ['others'] }, 'no_role'],
    [{}, { groups: undefined }, 'no_role'],
    [{}, { groups: { devs: true } }, 'no_role'],
    [{ defaultRole: 'viewer' }, { groups: ['others'] }, 'viewer'],
    [{ defaultRole: 'viewer' }, { groups: 'devs' }, 'editor'],
    [{ groupClaim: 'realm_access.roles' }, { realm_access: { roles: ['flags-admins'] } }, 'admin'],
    [{ groupClaim: 'realm_access.constructor.name' }, { realm_access: {} }, 'no_role'],
    [{}, { email: undefined }, 'no_email'],
    [{}, { email: 'not an address' }, 'no_email'],
    [{}, { email_verified: false }, 'email_unverified'],
    [{}, { email_verified: undefined }, 'email_unverified'],
    [{}, { email_verified: 'true' }, 'editor'],
    [{ trustEmail: true }, { email_verified: undefined }, 'editor'],
    [{ emailDomains: ['example.org'] }, {}, 'email_domain'],
    [{ emailDomains: ['example.org', 'example.com'] }, {}, 'editor'],
    [{ emailDomains: ['example.com'] }, { email_verified: false }, 'email_unverified'],
  ])('with %j and the claims %j the result is %s', async (settings, claims, result) => {
    for (const where of ['ID token', 'UserInfo']) {
      const name = `p${crypto.randomUUID().slice(0, 8)}`;
      shared.app.useSso(settingsOf(provider, settings));
      if (where === 'UserInfo')
        for (const claim of ['email', 'email_verified', 'groups', 'realm_access'])
          provider.onlyInUserInfo.add(claim);
      const browser = newBrowser();
      const answer = await browser.signIn(personIn(name, ['devs'], claims));
      const role = (await sessionOf(browser)).operator?.role;
      expect([where, role ?? outcome(answer)]).toEqual([
        where,
        result.includes('_') ? `/sign-in?sso=${result}` : result,
      ]);
    }
  });

  test.each([
    [`${'a'.repeat(99)}😀`, 'a'.repeat(99)],
    ['a\ud83d', 'a\ufffd'],
    ['\udc00 b', '\ufffd b'],
    ['a\u0000\nb', 'a b'],
    ['ro\u00adot\u202e', 'root'],
    ['\u200b', undefined],
  ])('a person named %j gets an account, as %j', async (name, kept) => {
    const id = `n${crypto.randomUUID().slice(0, 8)}`;
    const browser = await signedIn(personIn(id, ['devs'], { name }));
    expect((await sessionOf(browser)).operator.name).toBe(kept ?? id);
  });

  test.each([
    [{ sub: 'a\ud800' }, {}, 'invalid'],
    [{ sub: 'a\u0000' }, {}, 'invalid'],
    [{}, { email: 'a\ud800@example.com' }, 'invalid'],
    [{}, { email: 'a\u0000@example.com' }, 'invalid'],
    [{}, { email: 'ro\u00adot@example.com' }, 'no_email'],
    [{}, { email: 'root\u200b@example.com' }, 'no_email'],
    [{}, { email: 'a\u202e@example.com' }, 'no_email'],
  ])(
    'a person with %j and the claims %j is refused, without an error in the log',
    async (more, claims, why) => {
      const before = shared.app.logged.length;
      const answer = await newBrowser().signIn({ ...personIn('odd', ['devs'], claims), ...more });
      expect(outcome(answer)).toBe(`/sign-in?sso=${why}`);
      const levels = shared.app.logged.slice(before).map((line) => JSON.parse(line).level);
      expect(levels).toEqual([pino.levels.values.warn]);
    },
  );

  test.each<[claims: object, outcome: string]>([
    [{ email: 'hana@example.org' }, 'email_domain'],
    [{ email_verified: false }, 'email_unverified'],
    [{ email: undefined }, 'no_email'],
  ])('with domains, a person who is known needs a verified address in one, too: %j', async (claims, why) => {
    shared.app.useSso(settingsOf(provider, { emailDomains: ['example.com'] }));
    const browser = await signedIn(personIn('hana', ['devs']));
    expect(outcome(await newBrowser().signIn(personIn('hana', ['devs'], claims)))).toBe(
      `/sign-in?sso=${why}`,
    );
    expect((await sessionOf(browser)).signedIn).toBe(false);
    expect((await operatorOf('hana@example.com')).role).toBe('none');
  });

  test('an e-mail of the ID token is not verified by what the UserInfo endpoint says of another one', async () => {
    provider.onlyInUserInfo.add('groups');
    provider.tampering.set('/me', (body) => ({
      ...body,
      email: 'other@example.com',
      email_verified: true,
    }));
    const person = personIn('ivo', ['devs'], { email_verified: undefined });
    expect(outcome(await newBrowser().signIn(person))).toBe('/sign-in?sso=email_unverified');
  });

  test('signing out also ends the session at the provider, where that is possible', async () => {
    const browser = await signedIn(personIn('ned'));
    const { id } = browser.browser;
    const { json } = await browser.browser.call('DELETE', '/api/session');
    const target = new URL(json.continueAt);
    expect(target.origin).toBe(provider.issuer);
    expect(Object.fromEntries(target.searchParams)).toEqual({
      client_id: CLIENT.clientId,
      post_logout_redirect_uri: `${ORIGIN}/sign-in`,
    });
    expect((await fetch(target)).status).toBe(200);
    browser.browser.id = id;
    expect((await sessionOf(browser)).signedIn).toBe(false);
    shared.app.useSso(settingsOf(provider));
    provider.tampering.set(
      '/.well-known/openid-configuration',
      ({ end_session_endpoint: _, ...body }) => body,
    );
    const second = await signedIn(personIn('ned'));
    expect((await second.browser.call('DELETE', '/api/session')).json.continueAt).toBeUndefined();
    const password = new TestBrowser(shared.app);
    await password.signIn('root@example.com');
    expect((await password.call('DELETE', '/api/session')).json.continueAt).toBeUndefined();
  });
});
