import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import type { Rights } from '../../domain/rights.ts';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { join, type TestOperator } from '../../management/api/test-browser.ts';
import { commonRights } from '../../management/rights.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';

setDefaultTimeout(60_000);

const OWN = '/api/session/tokens';

const projects = (...roles: readonly (readonly [string, 'viewer' | 'editor' | 'admin', boolean?])[]) => ({
  projects: roles.map(([project, role, canChangeProtected = role === 'admin']) => ({
    projectId: project,
    project,
    role,
    canChangeProtected,
  })),
});
const everywhere = (role: Rights['role'], canChangeProtected = role === 'admin') => ({
  role,
  canChangeProtected,
});

test.each([
  ['the lower role', everywhere('admin'), everywhere('viewer'), everywhere('viewer')],
  [
    'protected only where both may',
    everywhere('editor', true),
    everywhere('admin'),
    everywhere('editor', true),
  ],
  ['not protected', everywhere('editor'), everywhere('admin'), everywhere('editor')],
  [
    'the lower role in a project',
    { ...everywhere('none'), ...projects(['a', 'admin'], ['b', 'editor']) },
    { ...everywhere('none'), ...projects(['a', 'editor', true]) },
    { ...everywhere('none'), ...projects(['a', 'editor', true]) },
  ],
  [
    'the role for all projects in a project',
    { ...everywhere('viewer'), ...projects(['a', 'admin']) },
    everywhere('editor'),
    { ...everywhere('viewer'), ...projects(['a', 'editor']) },
  ],
  ['nothing', { ...everywhere('none'), ...projects(['a', 'admin']) }, everywhere('none'), everywhere('none')],
] as readonly (readonly [string, Rights, Rights, Rights])[])(
  'two holders may both do %s',
  (_what, a, b, both) => {
    expect(commonRights(a, b)).toEqual(both);
    expect(commonRights(b, a)).toEqual(both);
  },
);

describe.each(ENGINES)('own tokens on $name', (engine: TestEngine) => {
  let app: TestApp;
  let count = 0;
  beforeAll(async () => {
    app = await openTestApp(engine);
    await join(app, { email: 'root@example.com', role: 'admin' });
    await app.done('POST', '/api/projects', { body: { name: 'shop' } });
  });
  afterAll(() => app.close());

  const person = (rights: object): Promise<TestOperator> =>
    join(app, { email: `person-${++count}@example.com`, ...rights });
  const tokenOf = async ({ browser }: TestOperator, input: object = {}) =>
    (await browser.call('POST', OWN, { body: { name: `own-${++count}`, ...input } })).json;
  const whoAmI = async (token: string) => {
    const { status, json } = await app.call('GET', '/api/whoami', { token });
    return status === 200 ? json.role : json.error;
  };

  test('S23.2 a person has at most 20 that are valid', async () => {
    const [ada, bob] = [await person({ role: 'viewer' }), await person({ role: 'viewer' })];
    // Two at once do not both get the last place.
    const made = await Promise.all(Array.from({ length: 21 }, () => tokenOf(ada)));
    const refused = made.filter(({ error }) => error !== undefined);
    expect(refused).toMatchObject([
      { error: 'invalid_argument', message: expect.stringContaining('20 access tokens, which is the limit') },
    ]);
    expect((await tokenOf(bob)).error).toBeUndefined();

    const { id } = made.find(({ error }) => error === undefined);
    await ada.browser.call('DELETE', `${OWN}/${id}`);
    expect((await tokenOf(ada)).error).toBeUndefined();
    expect((await tokenOf(ada)).error).toBe('invalid_argument');
  });

  test('S23.2 anyone who is signed in makes them, and administrators see whose they are', async () => {
    const ada = await person({ role: 'viewer' });
    const made = await tokenOf(ada);
    expect(made).toMatchObject({ role: 'viewer', canChangeProtected: false, owner: ada.email });
    const { token, ...record } = made;
    expect((await ada.browser.call('GET', OWN)).json.tokens).toMatchObject([{ id: record.id }]);
    const { tokens } = (await app.call('GET', '/api/tokens')).json;
    expect(tokens.find((one: { id: string }) => one.id === record.id)).toMatchObject({ owner: ada.email });

    // Programs have none, and no one ends those of another person here.
    expect((await app.call('GET', OWN, { token })).json.tokens).toEqual([]);
    const more = await app.call('POST', OWN, { token, body: { name: 'more' } });
    expect(more.json.error).toBe('invalid_argument');
    expect((await app.call('DELETE', `${OWN}/${record.id}`, { token })).json.error).toBe('not_found');
    const bob = await person({ role: 'editor' });
    expect((await bob.browser.call('DELETE', `${OWN}/${record.id}`)).json.error).toBe('not_found');
    expect((await ada.browser.call('DELETE', `${OWN}/${record.id}`)).status).toBe(200);
    expect(await whoAmI(token)).toBe('invalid_access_token');
  });

  test('S23.2 one does no more than its owner may, now', async () => {
    const eve = await person({ role: 'editor', canChangeProtected: true });
    const { token } = await tokenOf(eve);
    const limited = await tokenOf(eve, { role: 'viewer' });
    const change = { token, body: { enabled: true } };
    const path = '/api/projects/shop/environments/production/flags/a';
    expect((await app.call('PUT', path, change)).status).toBe(200);
    expect(limited).toMatchObject({ role: 'viewer', canChangeProtected: false });

    const set = (body: object) => app.done('PATCH', `/api/operators/${eve.id}`, { body });
    await set({ canChangeProtected: false });
    expect((await app.call('PUT', path, change)).json.error).toBe('forbidden');
    // It never rises with its owner.
    await set({ role: 'admin' });
    expect(await whoAmI(token)).toBe('editor');
    // On its way when the owner loses the role: it changes nothing.
    app.node.beforeCommit = async () => {
      app.node.beforeCommit = async () => {};
      await set({ role: 'viewer' });
    };
    expect((await app.call('PUT', path, change)).json.error).toBe('forbidden');
  });

  test('S24.8 one for the audit log reads every entry of it, and nothing else', async () => {
    const body = { name: `siem-${++count}`, role: 'admin', only: 'audit' };
    const { token, only } = await app.done('POST', '/api/tokens', { body });
    expect([only, await whoAmI(token)]).toEqual(['audit', 'admin']);
    for (const path of ['/api/audit', '/api/audit/follow?after=0'])
      expect((await app.call('GET', path, { token })).text).toContain('operator.joined');
    expect((await app.call('GET', '/api/audit/verification', { token })).status).toBe(200);

    for (const path of [
      '/api/projects',
      '/api/operators',
      '/api/projects/shop',
      '/api/projects/missing',
      '/api/changes/1',
    ])
      expect([path, (await app.call('GET', path, { token })).json.error]).toEqual([path, 'forbidden']);
    const invited = { email: 'eve@example.com', role: 'viewer' };
    expect((await app.call('POST', '/api/invitations', { token, body: invited })).json.error).toBe(
      'forbidden',
    );

    // The role says which entries.
    const role = await app.done('POST', '/api/tokens', {
      body: { ...body, name: `siem-${++count}`, role: 'editor' },
    });
    const seen = (await app.call('GET', '/api/audit', { token: role.token })).text;
    expect([seen.includes('operator.joined'), seen.includes('project.created')]).toEqual([false, true]);
  });

  test.each([
    ['is removed', 'DELETE', undefined],
    ['has no role left', 'PATCH', { role: 'none' }],
  ])('S23.2 they end when the owner %s, with their links, and others stay', async (_what, method, body) => {
    const zoe = await person({ role: 'admin' });
    const { token, id } = await tokenOf(zoe);
    const pipeline = await zoe.browser.call('POST', '/api/tokens', { body: { name: `ci-${++count}` } });
    const link = await app.done('POST', '/api/invitations', {
      token,
      body: { email: `friend-${count}@example.com`, role: 'viewer' },
    });
    await app.done(method, `/api/operators/${zoe.id}`, body && { body });

    expect(await whoAmI(token)).toBe('invalid_access_token');
    expect(await whoAmI(pipeline.json.token)).toBe('editor');
    const { invitations } = (await app.call('GET', '/api/invitations')).json;
    expect(invitations.map((one: { id: string }) => one.id)).not.toContain(link.id);
    const { entries } = (await app.call('GET', '/api/audit?action=token.revoked&limit=1')).json;
    expect(entries).toMatchObject([{ target: id }]);
  });
});
