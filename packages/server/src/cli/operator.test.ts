import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type NodeProcess, startNode } from '@halyard/testing';
import { type CliRun, commandsAt } from './test-shell.ts';

let node: NodeProcess;
const { halyard } = commandsAt(() => node);

beforeAll(async () => {
  node = await startNode({
    env: { HALYARD_DRAIN_SECONDS: '0', HALYARD_PUBLIC_URL: 'https://flags.example/' },
  });
}, 60_000);

afterAll(() => node.stop(), 60_000);

function post(path: string, body: object): Promise<Response> {
  const headers = { 'Content-Type': 'application/json', Origin: 'https://flags.example' };
  return fetch(`${node.url}/api${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** The secret at the end of a link that a command has written. */
function tokenIn({ out }: CliRun): string {
  return out.trim().split('#')[1] ?? '';
}

test('invites, lists, resets and removes an operator', async () => {
  const invited = await halyard('operator invite Ada@Example.com --role admin', { isTerminal: true });
  expect(invited.exitCode).toBe(0);
  expect(invited.out).toMatch(/^https:\/\/flags\.example\/invitation#hin_[0-9A-Za-z]{43}\n$/);
  expect(invited.err).toContain('Invited Ada@Example.com. The link works once, until 2');
  expect(invited.err).not.toContain('hin_');
  const accept = { token: tokenIn(invited), name: 'Ada', password: 'a long enough password' };
  expect((await post('/invitations/accept', accept)).status).toBe(201);

  const listed = await halyard('operator list', { isTerminal: true });
  expect(listed.out).toMatch(
    /^EMAIL +NAME +ROLE +SIGN-IN +SINCE +LAST SEEN\nada@example\.com +Ada +admin +password /,
  );
  expect(JSON.parse((await halyard('operator list')).out).operators).toHaveLength(1);

  const reset = await halyard('operator reset ada@example.com');
  expect(reset.err).toContain('The old password works until it is used.');
  const next = { token: tokenIn(reset), password: 'another long password' };
  expect((await post('/invitations/accept', next)).status).toBe(201);

  const last = await halyard('operator remove ada@example.com --yes');
  expect(last).toMatchObject({ exitCode: 2, out: '' });
  expect(last.err).toContain('the only administrator');
  const bob = tokenIn(await halyard('operator invite bob@example.com --role editor --protected'));
  expect((await post('/invitations/accept', { token: bob, password: 'bob has one as well' })).status).toBe(
    201,
  );
  expect((await halyard('operator list', { isTerminal: true })).out).toContain('editor + protected');
  const shown = await halyard('operator show bob@example.com', { isTerminal: true });
  expect(shown.out).toContain('Ends with a removal:\n  session: used ');
  const asked = await halyard('operator remove bob@example.com');
  expect([asked.exitCode, asked.out]).toEqual([2, '']);
  expect(asked.err).toContain(shown.out);
  expect(asked.err).toContain('Add --yes');
  const removed = await halyard('operator remove bob@example.com --yes', { isTerminal: true });
  expect(removed).toMatchObject({ exitCode: 0, out: 'Removed bob@example.com.\n' });
});

test('set-role changes the role of an operator', async () => {
  const invited = tokenIn(await halyard('operator invite eve@example.com --role editor --protected'));
  expect(
    (await post('/invitations/accept', { token: invited, password: 'eve has one as well' })).status,
  ).toBe(201);
  const changed = await halyard('operator set-role eve@example.com --role viewer', { isTerminal: true });
  expect(changed).toMatchObject({ exitCode: 0, out: 'eve@example.com now has the role viewer.\n' });
  expect(await halyard('operator set-role eve@example.com')).toMatchObject({ exitCode: 2, out: '' });
  expect(await halyard('operator set-role nobody@example.com --role viewer')).toMatchObject({ exitCode: 3 });
});

test('lists an invitation without its secret, and revokes it', async () => {
  const invited = await halyard('operator invite carl@example.com --role viewer');
  const [{ id }] = JSON.parse((await halyard('invitation list')).out).invitations;
  const list = await halyard('invitation list', { isTerminal: true });
  expect(list.out).toMatch(/^ID +KIND +EMAIL +ROLE +BY +EXPIRES\n[\w-]+ +\w+ +carl@example\.com +viewer /);
  expect(list.out).not.toContain(tokenIn(invited));
  expect(await halyard(`invitation revoke ${id}`, { isTerminal: true })).toMatchObject({ exitCode: 0 });
  expect(
    (await post('/invitations/accept', { token: tokenIn(invited), password: 'a long password' })).status,
  ).toBe(410);
  expect(await halyard(`invitation revoke ${id}`)).toMatchObject({ exitCode: 3 });
});

test('reports invalid options and unknown operators', async () => {
  expect(await halyard('operator invite ada@example.com --role boss')).toMatchObject({
    exitCode: 2,
    out: '',
  });
  expect(await halyard('operator invite nobody')).toMatchObject({ exitCode: 2, out: '' });
  expect(await halyard('operator reset nobody@example.com')).toMatchObject({ exitCode: 3, out: '' });
  expect(await halyard('operator remove nobody@example.com')).toMatchObject({ exitCode: 3, out: '' });
});

test('a role in one project shows that project alone, and set-role changes it', async () => {
  for (const name of ['shop', 'web']) await halyard(`project create ${name}`);
  const made = await halyard('token create --name shop-only --project shop --role viewer --days 7');
  expect(made.err).toContain('has the role shop: viewer and expires at ');
  const list = async () =>
    JSON.parse((await halyard('project list', { env: { HALYARD_TOKEN: made.out.trim() } })).out).projects;
  expect(await list()).toMatchObject([{ name: 'shop' }]);
  const limited = await halyard('token create --name plan --project shop,web --only plan --json');
  const projects = ['shop', 'web'].map((project) => ({ project, role: 'editor', canChangeProtected: false }));
  expect(JSON.parse(limited.out)).toMatchObject({ role: 'none', projects, only: 'plan' });
  for (const wrong of ['--days 0', '--days 1 --expires 1d', '--only all'])
    expect(await halyard(`token create --name wrong ${wrong}`)).toMatchObject({ exitCode: 2, out: '' });

  const token = tokenIn(await halyard('operator invite pat@example.com --role editor --project shop'));
  expect((await post('/invitations/accept', { token, password: 'pat has a long one' })).status).toBe(201);
  const setRole = async (options: string) =>
    (await halyard(`operator set-role pat@example.com ${options}`, { isTerminal: true })).out;
  expect(await setRole('--role admin --project web')).toBe(
    'pat@example.com now has the roles shop: editor, web: admin.\n',
  );
  expect(await setRole('--role none --project web')).toBe('pat@example.com now has the role shop: editor.\n');
  expect(await setRole('--protected --project shop')).toBe(
    'pat@example.com now has the role shop: editor + protected.\n',
  );
  const { exitCode } = await halyard('operator set-role pat@example.com --protected --project web');
  expect(exitCode).toBe(2);
});

test('an access token can do only what its role allows', async () => {
  const run = await halyard('token create --name reader --role viewer --no-protected');
  expect(run.err).toContain('has the role viewer');
  const asReader = { env: { HALYARD_TOKEN: run.out.trim() } };
  expect(await halyard('project list', asReader)).toMatchObject({ exitCode: 0 });
  const refused = await halyard('project create mine', asReader);
  expect(refused).toMatchObject({ exitCode: 4, out: '' });
  expect(refused.err).toContain('/errors/forbidden');
  const { tokens } = JSON.parse((await halyard('token list')).out);
  const reader = tokens.find(({ name }: { name: string }) => name === 'reader');
  expect(reader).toMatchObject({ role: 'viewer', canChangeProtected: false });
});
