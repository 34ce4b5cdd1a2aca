import { afterAll, beforeEach, expect, test } from 'bun:test';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { temporaryFolder } from '@halyard/testing';
import { resolveAddress, resolveConnection } from './connection.ts';
import { findKeyring } from './keyring.ts';
import { profilesPath, readProfiles, writeProfiles } from './profiles.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const HOME = { XDG_CONFIG_HOME: folder.path, PATH: '' };
const WORK = { name: 'work', url: 'https://flags.example.com', token: 'work-token' };
const TEST = { name: 'test', url: 'http://10.0.0.1:7070', token: 'test-token' };
const FILE = profilesPath(HOME) ?? '';

beforeEach(() => {
  rmSync(FILE, { force: true });
  writeProfiles(HOME, { current: 'work', profiles: [WORK, TEST] });
});

const HERE = 'http://127.0.0.1:7070';

test.each([
  // Nothing else names a server or a token: the current profile.
  [{}, {}, WORK.url, 'work-token'],
  // An option or a variable names a profile; options count more.
  [{ profile: 'test' }, {}, TEST.url, 'test-token'],
  [{}, { HALYARD_PROFILE: 'test' }, TEST.url, 'test-token'],
  [{ profile: 'work' }, { HALYARD_PROFILE: 'test' }, WORK.url, 'work-token'],
  [{ profile: 'test' }, { HALYARD_URL: 'http://other', HALYARD_TOKEN: 'own' }, TEST.url, 'test-token'],
  [{ profile: 'test', token: 'mine' }, {}, TEST.url, 'mine'],
  [{}, { HALYARD_PROFILE: 'test', HALYARD_TOKEN: 'own' }, TEST.url, 'own'],
  // Options and variables count more than the current profile, as a whole.
  [{ token: 'mine' }, {}, HERE, 'mine'],
  [{}, { HALYARD_TOKEN: 'own' }, HERE, 'own'],
  [{}, { HALYARD_ADMIN_TOKEN: 'admin' }, HERE, 'admin'],
  [{}, { HALYARD_PORT: '7071' }, 'http://127.0.0.1:7071', undefined],
  [{}, { HALYARD_URL: 'http://other' }, 'http://other', undefined],
  // A server that is named without a token gets the one that was stored for it, and no other.
  [{ url: TEST.url }, {}, TEST.url, 'test-token'],
  [{}, { HALYARD_URL: `${WORK.url}/` }, WORK.url, 'work-token'],
  [{ url: `${WORK.url}.evil.example` }, {}, `${WORK.url}.evil.example`, undefined],
  [{ url: 'http://flags.example.com' }, {}, 'http://flags.example.com', undefined],
  [{ profile: 'work', url: 'http://other' }, {}, 'http://other', undefined],
  // What belongs to a server here does not go to that of a profile.
  [{}, { HALYARD_PROFILE: 'work', HALYARD_ADMIN_TOKEN: 'admin' }, WORK.url, 'work-token'],
  [{}, { HALYARD_PROFILE: 'work', HALYARD_DATA: '/var/lib/halyard' }, WORK.url, 'work-token'],
] as const)('option > variable > profile: %j %j is %s with %s', (flags, env, url, token) => {
  const connection = resolveConnection(flags, { ...HOME, ...env });
  expect([connection.url, connection.token]).toEqual([url, token]);
  expect(resolveAddress(flags, { ...HOME, ...env }).url).toBe(url);
});

test('says whose token it is, and for which server', () => {
  expect(resolveConnection({}, HOME).tokenOrigin).toBe('the profile "work"');
  expect(resolveConnection({ profile: 'work', url: 'http://other' }, HOME).tokenProblem).toBe(
    'The token of the profile "work" is for https://flags.example.com, not for http://other.',
  );
  expect(() => resolveConnection({ profile: 'gone' }, HOME)).toThrow('The profiles are work, test.');
});

test('an agent does not get the current profile', () => {
  expect(resolveConnection({}, HOME, 'named').url).toBe(HERE);
  expect(resolveConnection({ profile: 'work' }, HOME, 'named').token).toBe('work-token');
});

test('the file is only for its owner, and one that others can read is refused', () => {
  expect(statSync(FILE).mode & 0o777).toBe(0o600);
  for (const mode of [0o640, 0o604, 0o660]) {
    chmodSync(FILE, mode);
    expect(() => resolveConnection({}, HOME)).toThrow('Other users can read');
  }
  // A command that does not need it works.
  expect(resolveConnection({}, { ...HOME, HALYARD_TOKEN: 'own' }).token).toBe('own');
});

test.each(['', '[]', '{"profiles":{"work":{}}}', '{"profiles":{"work":{"url":1}}}', '{"current":1}'])(
  'a damaged file is refused: %s',
  (text) => {
    writeFileSync(FILE, text);
    expect(() => readProfiles(HOME)).toThrow('Delete it, and log in again');
  },
);

test('the keyring keeps a token for its server', () => {
  // The program of desktops, as far as it is used: attributes as arguments, the token on standard input.
  const store = folder.file('store');
  const script = `#!/bin/sh
verb=$1; shift
case $verb in
  store) shift; echo "$*" > ${store}; cat >> ${store} ;;
  lookup) [ "$*" = "$(head -n 1 ${store})" ] && tail -n +2 ${store} ;;
  clear) rm -f ${store} ;;
esac
`;
  writeFileSync(folder.file('secret-tool'), script, { mode: 0o755 });
  const env = { ...HOME, PATH: `${folder.path}:/usr/bin:/bin` };
  const ring = findKeyring(env);
  expect(ring?.store({ profile: 'work', url: WORK.url }, 'ring-token')).toBe(true);
  expect(readFileSync(store, 'utf8')).toContain('ring-token');
  writeProfiles(env, { current: 'work', profiles: [{ name: 'work', url: WORK.url }] });
  expect(resolveConnection({}, env).token).toBe('ring-token');
  expect(ring?.read({ profile: 'work', url: 'https://other' })).toBeUndefined();

  ring?.remove({ profile: 'work', url: WORK.url });
  expect(existsSync(store)).toBe(false);
  expect(resolveConnection({}, env).tokenProblem).toContain('keyring does not give the token');
  expect(findKeyring(HOME)).toBeUndefined();
});
