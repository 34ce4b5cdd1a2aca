import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import { startIdentityProvider, type TestIdentityProvider } from '@halyard/testing/identity-provider';
import { ssoLengths } from '../../domain/sso.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import {
  CLIENT,
  outcome,
  personIn,
  type SsoBrowser,
  sessionOf,
  settingsOf,
  sharedApp,
} from './test-sign-on.ts';

setDefaultTimeout(60_000);

const MINUTE = 60_000;
const DAY = 1440 * MINUTE;

let provider: TestIdentityProvider;
beforeAll(async () => {
  provider = await startIdentityProvider(CLIENT);
});
afterAll(() => provider.close());

/** A session of an hour that ends after ten minutes without use, and two days for what people leave behind. */
const lengths = (sessionMinutes = 60) => ssoLengths({ sessionMinutes, idleMinutes: 10, absenceDays: 2 });

describe.each(ENGINES)('the end of a membership on $name', (engine: TestEngine) => {
  const shared = sharedApp(engine, () => provider);
  const useLengths = (sessionMinutes?: number) =>
    shared.app.useSso(settingsOf(provider, lengths(sessionMinutes)));
  const later = (ms: number) => {
    shared.app.node.now += ms;
  };
  const isSignedIn = async (browser: SsoBrowser): Promise<boolean> => (await sessionOf(browser)).signedIn;

  test('S23.1 a session ends as set after the provider answered for the person, used or not', async () => {
    useLengths();
    const started = shared.app.node.now;
    const browser = await shared.signedIn(personIn('uma'));
    const { json } = await browser.browser.call('GET', '/api/session');
    expect(Date.parse(json.expiresAt)).toBe(started + 10 * MINUTE);

    // Used every nine minutes, it lasts until the hour is over.
    for (let minutes = 9; minutes < 60; minutes += 9) {
      later(9 * MINUTE);
      expect([minutes, (await browser.browser.call('GET', '/api/projects')).status]).toEqual([minutes, 200]);
      await until('the use is noted', async () => {
        const text = 'SELECT 1 FROM sessions WHERE last_used_at = $1';
        return (await shared.app.home.database.query(text, [shared.app.node.now])).length > 0;
      });
    }
    shared.app.node.now = started + 60 * MINUTE;
    expect((await browser.browser.call('GET', '/api/projects')).json.error).toBe('not_signed_in');

    // The next sign-in takes the groups again; the provider remembers the person.
    expect(outcome(await browser.signIn(personIn('uma', [])))).toContain('sso=no_role');
    expect(await isSignedIn(browser)).toBe(false);
  });

  test('S23.1 a shorter setting ends open sessions, also at the commit of a request on its way', async () => {
    useLengths();
    // The request begins some time ago, and its commit is now.
    const { now } = shared.app.node;
    later(-61 * MINUTE);
    const browser = await shared.signedIn(personIn('vic', ['flags-admins']));
    later(9 * MINUTE);
    shared.app.node.beforeCommit = async () => {
      shared.app.node.beforeCommit = async () => {};
      shared.app.node.now = now;
    };
    const { json } = await browser.browser.call('POST', '/api/projects', { body: { name: 'too-late' } });
    expect(json.error).toBe('not_signed_in');

    const second = await shared.signedIn(personIn('vic', ['flags-admins']));
    later(9 * MINUTE);
    expect(await isSignedIn(second)).toBe(true);
    useLengths(5);
    expect(await isSignedIn(second)).toBe(false);
  });

  test('S23.1 while the provider is away, sessions end all the same, and those of passwords do not', async () => {
    useLengths();
    const browser = await shared.signedIn(personIn('wim'));
    const away = await startIdentityProvider(CLIENT);
    shared.app.useSso({ ...settingsOf(away, lengths()), issuer: settingsOf(provider).issuer });
    away.close();
    expect(await isSignedIn(browser)).toBe(true);
    later(10 * MINUTE);
    expect(await isSignedIn(browser)).toBe(false);

    // Without any provider in the settings, no one answers for the person either.
    useLengths();
    const last = await shared.signedIn(personIn('wim'));
    shared.app.useSso(undefined);
    later(721 * MINUTE);
    expect(await isSignedIn(last)).toBe(false);
  });

  test('S23.2 the own token of a person ends when the groups give no role, or after too long an absence', async () => {
    useLengths();
    const ownToken = async (browser: SsoBrowser, name: string): Promise<string> =>
      (await browser.browser.call('POST', '/api/session/tokens', { body: { name } })).json.token;
    const roleOf = async (token: string) =>
      (await shared.app.call('GET', '/api/whoami', { token })).json.role;

    const xena = await shared.signedIn(personIn('xena', ['devs']));
    const token = await ownToken(xena, 'xena-cli');
    expect(await roleOf(token)).toBe('editor');
    later(2 * DAY);
    expect(await roleOf(token)).toBeUndefined();
    await xena.signIn(personIn('xena', ['staff']));
    expect(await roleOf(token)).toBe('viewer');
    await xena.signIn(personIn('xena', []));
    await xena.signIn(personIn('xena', ['devs']));
    expect(await roleOf(token)).toBeUndefined();
    expect(await roleOf(await ownToken(xena, 'xena-cli'))).toBe('editor');
  });
});
