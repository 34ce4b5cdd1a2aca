import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type NodeProcess, startNode, temporaryFolder } from '@halyard/testing';
import { type CapturedShellOptions, runCaptured } from './test-shell.ts';

let node: NodeProcess;
const folder = temporaryFolder();
const FILE = join(folder.path, 'halyard', 'profiles.json');

beforeAll(async () => {
  node = await startNode({ env: { HALYARD_DRAIN_SECONDS: '0' } });
}, 60_000);

afterAll(async () => {
  folder.remove();
  await node.stop();
}, 60_000);

function halyard(line: string, options: CapturedShellOptions = {}) {
  const env = { XDG_CONFIG_HOME: folder.path, PATH: '', ...options.env };
  return runCaptured(line.split(' '), { isTerminal: true, ...options, env });
}

test('login keeps a token that the server accepts, and commands use it until logout', async () => {
  expect((await halyard('profile list')).out).toContain('No profiles');
  const refused = await halyard(`login ${node.url}`, { input: 'hat_wrong\n' });
  expect(refused).toMatchObject({ exitCode: 4, out: '' });
  expect(refused.err).toContain('rejected the access token from your input');
  expect((await halyard(`login ${node.url}`, { input: '\n' })).exitCode).toBe(2);

  const done = await halyard(`login ${node.url}/`, { input: `${node.adminToken}\n` });
  expect(done).toMatchObject({ exitCode: 0, err: `Access token for ${node.url}: ` });
  expect(done.out).toBe(`Logged in to ${node.url} as admin. Profile "default"; the token is in ${FILE}.\n`);
  expect((await halyard('project create shop')).exitCode).toBe(0);
  expect((await halyard('doctor')).out).toContain('belongs to admin');

  await halyard(`login ${node.url} --profile other`, { input: node.adminToken });
  expect((await halyard('profile list')).out).toMatch(/^other +http\S+ +file +yes$/m);
  expect((await halyard('profile use default')).out).toBe(`The current profile is "default": ${node.url}\n`);
  expect((await halyard('complete profile use o')).out).toBe(`other\t${node.url}\n`);
  expect((await halyard('complete flag get --project shop --env')).exitCode).toBe(0);
  expect((await halyard('complete flag list --profile other --project s')).out).toStartWith('shop');

  const { out } = await halyard('logout');
  expect(out).toContain('Forgot the profile "default"');
  expect(out).toContain('choose one with "halyard profile use"');
  expect((await halyard('profile list --json')).out).not.toContain('default');
  expect((await halyard('logout')).exitCode).toBe(2);
  expect(readFileSync(FILE, 'utf8').split(node.adminToken)).toHaveLength(2);
  expect((await halyard('logout --profile other')).exitCode).toBe(0);
  expect(readFileSync(FILE, 'utf8')).not.toContain(node.adminToken);
});

test('login sends no token to a server that nothing named, and replaces no profile in silence', async () => {
  await halyard(`login ${node.url} --profile known`, { input: node.adminToken });
  const elsewhere = await halyard('login --profile new', {
    input: node.adminToken,
    env: { HALYARD_PORT: '1' },
  });
  expect(elsewhere.err).toContain('Access token for http://127.0.0.1:1: ');

  const other = await halyard('login http://127.0.0.1:1', { input: node.adminToken });
  expect(other).toMatchObject({ exitCode: 2, out: '' });
  expect(other.err).toContain(`The profile "known" is for ${node.url}. Add --profile <name>`);
  expect((await halyard('logout --profile known')).exitCode).toBe(0);
});

test('login says what keeps commands from using the profile, and refuses invalid names', async () => {
  const env = { HALYARD_TOKEN: 'hat_other' };
  const done = await halyard(`login ${node.url}`, { input: node.adminToken, env });
  expect(done.err).toContain('note: HALYARD_TOKEN is set');
  expect((await halyard('project list', { env: { ...env, HALYARD_URL: node.url } })).exitCode).toBe(4);
  expect((await halyard('project list --profile default', { env })).exitCode).toBe(0);
  expect((await halyard(`login ${node.url} --profile a/b`)).exitCode).toBe(2);
  expect((await halyard('profile use gone')).err).toContain('The profiles are default.');
});
