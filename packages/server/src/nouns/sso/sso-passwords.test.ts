import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { startIdentityProvider, type TestIdentityProvider } from '@halyard/testing/identity-provider';
import { openTestApp } from '../../management/api/test-app.ts';
import { join, ORIGIN, PASSWORD, TestBrowser } from '../../management/api/test-browser.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { CLIENT, outcome, personIn, SsoBrowser, sessionOf, settingsOf, sharedApp } from './test-sign-on.ts';

setDefaultTimeout(60_000);

let provider: TestIdentityProvider;
beforeAll(async () => {
  provider = await startIdentityProvider(CLIENT);
});
afterAll(() => provider.close());

describe.each(ENGINES)('single sign-on beside passwords on $name', (engine: TestEngine) => {
  const shared = sharedApp(engine, () => provider);
  const { newBrowser, signedIn, operatorOf, auditOf } = shared;

  test('an account with a password is linked only by a verified e-mail, and loses every other way in', async () => {
    const { browser: open, email } = await join(shared.app, { email: 'dan@example.com', role: 'admin' });
    const { id } = await operatorOf(email);
    const { token } = (await shared.app.call('POST', `/api/operators/${id}/reset`)).json;
    const unverified = await newBrowser().signIn(personIn('dan', ['devs'], { email_verified: false }));
    expect(outcome(unverified)).toBe('/sign-in?sso=email_unverified');
    expect((await open.call('GET', '/api/session')).json.signedIn).toBe(true);

    const linked = await signedIn(personIn('dan', ['devs'], { email: 'Dan@Example.com' }));
    // The role of the password account is not taken over.
    expect((await sessionOf(linked)).operator).toMatchObject({ id, role: 'editor', signIn: 'sso' });
    expect((await open.call('GET', '/api/session')).json.signedIn).toBe(false);
    expect((await new TestBrowser(shared.app, '203.0.113.8').signIn(email)).json.error).toBe(
      'sign_in_failed',
    );
    const accepted = await new TestBrowser(shared.app).call('POST', '/api/invitations/accept', {
      body: { token, password: PASSWORD },
    });
    expect(accepted.json.error).toBe('invitation_invalid');
    const actions = (await auditOf(email)).map((one: { action: string }) => one.action);
    expect(actions).toContain('operator.linked');

    // The address belongs to someone else at the provider now.
    const heir = { ...personIn('dan', ['flags-admins']), sub: 'sub-other-dan' };
    expect(outcome(await newBrowser().signIn(heir))).toBe('/sign-in?sso=email_taken');
    expect((await sessionOf(linked)).signedIn).toBe(true);
    // The same person, whose address has changed, keeps the account.
    const renamed = await signedIn(personIn('dan', ['devs'], { email: 'daniel@example.com' }));
    expect((await sessionOf(renamed)).operator).toMatchObject({ id, email });
  });

  test('a link of single sign-on ends the sessions of the account, also where the role stays', async () => {
    const { browser: open } = await join(shared.app, { email: 'gil@example.com', role: 'editor' });
    const linked = await signedIn(personIn('gil', ['devs']));
    expect((await sessionOf(linked)).operator).toMatchObject({ role: 'editor', signIn: 'sso' });
    expect((await open.call('GET', '/api/session')).json.signedIn).toBe(false);
  });

  test('a letter that only becomes A to Z in lower case does not match the address of another account', async () => {
    await join(shared.app, { email: 'kim@example.com', role: 'admin' });
    const alike = personIn('kelvin', ['staff'], { email: '\u212aim@example.com' });
    const browser = await signedIn(alike);
    expect((await sessionOf(browser)).operator.email).toBe('\u212aim@example.com');
    expect((await operatorOf('kim@example.com')).signIn).toBe('password');
  });

  test('a second provider takes over the accounts of the first by their verified e-mail', async () => {
    const before = await signedIn(personIn('eve', ['devs']));
    const second = await startIdentityProvider(CLIENT);
    try {
      shared.app.useSso(settingsOf(second));
      const browser = new SsoBrowser(shared.app, second);
      expect(outcome(await browser.signIn(personIn('eve', ['staff'])))).toBe('/');
      const { operator } = await sessionOf(browser);
      expect(operator).toMatchObject({ email: 'eve@example.com', role: 'viewer' });
      expect((await sessionOf(before)).signedIn).toBe(false);
    } finally {
      second.close();
    }
    // Without the provider, an administrator can let the person in with a password.
    shared.app.useSso(undefined);
    const { id } = await operatorOf('eve@example.com');
    const { token } = (await shared.app.call('POST', `/api/operators/${id}/reset`)).json;
    const { status, json } = await new TestBrowser(shared.app).call('POST', '/api/invitations/accept', {
      body: { token, password: PASSWORD },
    });
    expect([status, json.operator.signIn]).toEqual([201, 'password']);
  });

  test('with single sign-on only, passwords are refused, and the administration token is the way back', async () => {
    const { browser, id } = await join(shared.app, { email: 'mia@example.com', role: 'admin' });
    const earlier = await browser.call('POST', '/api/invitations', {
      body: { email: 'late@example.com', role: 'viewer' },
    });
    shared.app.useSso(settingsOf(provider, { only: true }));
    expect((await new TestBrowser(shared.app).call('GET', '/api/session')).json.sso).toEqual({
      label: 'Example ID',
      only: true,
      url: `${ORIGIN}/api/sso/start`,
    });
    const refused = [
      await new TestBrowser(shared.app).signIn('mia@example.com'),
      await new TestBrowser(shared.app).signIn('nobody@example.com'),
      await browser.call('POST', '/api/invitations', { body: { email: 'x@example.com', role: 'viewer' } }),
      await browser.call('POST', `/api/operators/${id}/reset`),
    ];
    for (const { status, json } of refused) expect([status, json.error]).toEqual([403, 'forbidden']);
    expect(refused[0]?.json.message).toContain('Example ID');
    // A link from the time before works no longer, unless the administration token made it.
    const late = await new TestBrowser(shared.app).call('POST', '/api/invitations/accept', {
      body: { token: earlier.json.token, password: PASSWORD },
    });
    expect(late.json.error).toBe('forbidden');
    const rescue = await join(shared.app, { email: 'rescue@example.com', role: 'admin' });
    expect((await rescue.browser.call('GET', '/api/session')).json.signedIn).toBe(true);
    expect((await rescue.browser.signIn('rescue@example.com')).json.error).toBe('forbidden');
    expect((await sessionOf(await signedIn(personIn('mia', ['devs'])))).operator.id).toBe(id);
  });

  test('the first person of an empty server needs no set-up link', async () => {
    const empty = await openTestApp(engine);
    try {
      empty.useSso(settingsOf(provider));
      const browser = new SsoBrowser(empty, provider);
      expect(outcome(await browser.signIn(personIn('ola', ['flags-admins'])))).toBe('/');
      expect((await browser.browser.call('GET', '/api/session')).json).toMatchObject({
        setupNeeded: false,
        operator: { role: 'admin' },
      });
    } finally {
      await empty.close();
    }
  });
});
