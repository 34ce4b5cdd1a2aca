import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { join, type TestOperator } from '../../management/api/test-browser.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';

setDefaultTimeout(60_000);

const ALL = 'with=settings,keys,webhooks,members';
const YAML = { 'Content-Type': 'application/yaml' };
const FULL = '/api/import?policy=enforce&prune=true&remove=keys,webhooks,members';

describe.each(ENGINES)('a project as code on $name', (engine: TestEngine) => {
  let app: TestApp;
  let ada: TestOperator;
  let count = 0;
  beforeAll(async () => {
    app = await openTestApp(engine);
    ada = await join(app, { email: 'ada@example.com', role: 'admin' });
    for (const name of ['ben', 'cleo']) await join(app, { email: `${name}@example.com`, role: 'viewer' });
  });
  afterAll(() => app.close());

  const exported = async (path: string, query = ALL) =>
    (await app.call('GET', `${path}/export?format=yaml&${query}`)).text;
  const send = (path: string, body: string, token?: string) =>
    app.call('POST', path, { body, headers: YAML, ...(token !== undefined && { token }) });
  const personOf = async (email: string) =>
    (await app.done('GET', '/api/operators')).operators.find((one: { email: string }) => one.email === email);
  const give = async (email: string, projects: readonly object[]) =>
    app.done('PATCH', `/api/operators/${(await personOf(email)).id}`, { body: { projects } });

  /** A project with something of everything. */
  async function furnished(): Promise<{ readonly name: string; readonly path: string }> {
    const { name, path } = await app.project();
    await app.done('PUT', `${path}/environments/production/flags/a`, { body: { enabled: true } });
    const guards = { approvals: 2, emergencyOff: false, reasonRequired: true };
    await give('ben@example.com', [{ project: name, role: 'editor', canChangeProtected: true }]);
    await give('cleo@example.com', [{ project: name, role: 'admin' }]);
    await app.done('PATCH', `${path}/environments/production`, { body: guards });
    await app.done('PATCH', `${path}/environments/staging`, { body: { reasonRequired: true } });

    const key = (body: object) => app.done('POST', `${path}/keys`, { body });
    await key({
      name: 'web',
      environments: ['staging', 'production'],
      expiresAt: '2100-01-01T00:00:00.000Z',
    });
    await key({ name: 'web', environments: ['staging'] });
    const old = await key({ name: 'app', environments: ['production'] });
    await app.done('POST', `/api/keys/${old.id}/replace`, { body: {} });
    await app.done('DELETE', `/api/keys/${(await key({ name: 'gone', environments: ['staging'] })).id}`);
    const hook = { name: 'hook', url: 'https://hooks.example.com/in', environments: ['production'] };
    await app.done('POST', `${path}/webhooks`, { body: { ...hook, events: ['flag'] } });
    await app.done('POST', `${path}/webhooks`, {
      body: { name: 'idle', url: 'https://hooks.example.com/idle' },
    });
    await app.done('PATCH', `${path}/webhooks/idle`, { body: { status: 'paused' } });
    return { name, path };
  }

  test('S25.1 an export, imported into an empty installation and exported again, is equal', async () => {
    const { name, path } = await furnished();
    const text = await exported(path);
    expect(text).toContain('halyard: 2\n');
    expect(text).toContain(
      `keys:
  - {"name": "app", "environments": ["production"]}
  - {"name": "web", "environments": ["production","staging"], "expiresAt": "2100-01-01T00:00:00.000Z"}
  - {"name": "web", "environments": ["staging"]}
webhooks:
  - {"name": "hook", "url": "https://hooks.example.com/in", "environments": ["production"], "events": ["flag"]}
  - {"name": "idle", "url": "https://hooks.example.com/idle", "paused": true}
members:
  - {"email": "ben@example.com", "role": "editor", "canChangeProtected": true}
  - {"email": "cleo@example.com", "role": "admin"}
`,
    );
    expect(await exported(path, '')).toStartWith('halyard: 1\n');

    await using other = { app: await openTestApp(engine), [Symbol.asyncDispose]: () => other.app.close() };
    for (const each of ['ada', 'ben', 'cleo'])
      await join(other.app, { email: `${each}@example.com`, role: each === 'ada' ? 'admin' : 'viewer' });
    // Approvals need people who can give them, and their roles come with the same document.
    const first = await other.app.call('POST', FULL, { body: text, headers: YAML });
    expect([first.status, first.json?.message]).toEqual([200, undefined]);
    expect(first.json.keysCreated).toHaveLength(3);
    for (const { key } of first.json.keysCreated) expect(key).toMatch(/^proj_/);
    for (const { secret } of first.json.webhooksCreated) expect(secret).toMatch(/^whsec_/);
    const again = await other.app.call('GET', `/api/projects/${name}/export?format=yaml&${ALL}`);
    expect(again.text).toBe(text);
    expect((await other.app.call('POST', '/api/diff', { body: text, headers: YAML })).json.same).toBe(true);
    // Idempotent, and the audit log has nothing of it.
    const second = await other.app.done('POST', FULL, { body: text, headers: YAML });
    expect(second.seq).toBeUndefined();
    expect((await send('/api/diff', text)).json.same).toBe(true);
  });

  test('S25.2 what a document lacks stays, and is listed, unless its section is named', async () => {
    const { path } = await furnished();
    const text = (await exported(path)).replace(/^keys:[\s\S]*/m, 'keys: []\nwebhooks: []\nmembers: []\n');
    const { json } = await send('/api/import?policy=enforce', text);
    expect(json.seq).toBeUndefined();
    expect(json.onlyInProject).toMatchObject({
      keys: ['app', 'web', 'web'],
      webhooks: ['hook', 'idle'],
      members: ['ben@example.com', 'cleo@example.com'],
    });
    const preview = await send('/api/diff?remove=keys,members', text);
    expect(preview.json).toMatchObject({ same: false, webhooksDeleted: [] });
    // With a key goes the one that it replaced and that still works.
    expect(preview.json.keysRevoked).toHaveLength(4);
    expect(preview.json.membersChanged).toMatchObject([
      { email: 'ben@example.com', before: { role: 'editor' } },
      { email: 'cleo@example.com', before: { role: 'admin' } },
    ]);
    expect((await send('/api/import?remove=keys', text)).json.error).toBe('invalid_argument');
    await send('/api/import?policy=enforce&remove=keys,webhooks', text);
    const left = await exported(path);
    expect(left).toContain('keys: []\nwebhooks: []\nmembers:\n  - {"email": "ben');

    // A document without the sections leaves them alone.
    const bare = await exported(path, '');
    await send('/api/import?policy=enforce&prune=true&remove=members', bare);
    expect(await exported(path)).toBe(left);
  });

  test('S25.2 webhooks change in place, addresses that are not shown stay, and a key that differs is another key', async () => {
    const { path } = await furnished();
    const secret = 'https://chat.example.com/services/secret';
    await app.done('POST', `${path}/webhooks`, { body: { name: 'chat', url: secret, format: 'slack' } });
    const text = await exported(path);
    expect(text).toContain('"url": "https://chat.example.com/…"');
    expect(text).not.toContain('secret');
    const changed = text
      .replace('"format": "slack"', '"format": "slack", "events": ["flag"]')
      .replace(', "paused": true', '')
      .replace('"name": "app", "environments": ["production"]', '"name": "app", "environments": ["staging"]');
    const kept = await send('/api/import', changed);
    expect(kept.json).toMatchObject({ kept: 3, keysCreated: [] });

    const { json } = await send('/api/import?policy=enforce', changed);
    expect(json).toMatchObject({
      keysCreated: [{ name: 'app', environments: ['staging'] }],
      webhooksUpdated: [{ name: 'chat' }, { name: 'idle' }],
      onlyInProject: { keys: ['app'] },
    });
    const [row] = await app.home.database.query<{ url: string }>(
      `SELECT url FROM webhooks WHERE name = 'chat' AND url LIKE '%secret'`,
    );
    expect(row?.url).toBe(secret);
    // The hidden address of another webhook is not this one's, neither of an existing one nor of a new one.
    const whyOf = async (document: string, what: string) => {
      const { notAllowed } = (await send('/api/diff', document)).json;
      return notAllowed.find((one: { what: string }) => one.what === what)?.why;
    };
    const moved = changed.replace('https://hooks.example.com/in', 'https://chat.example.com/…');
    const twin = '{"name": "twin", "url": "https://chat.example.com/…", "format": "slack"}';
    const copied = text.replace('webhooks:\n', `webhooks:\n  - ${twin}\n`);
    const elsewhere = changed.replace(/^project: .*/m, `project: other-${++count}`);
    for (const [document, what] of [
      [moved, 'change the webhook "hook"'],
      [copied, 'create the webhook "twin"'],
      [elsewhere, 'create the webhook "chat"'],
    ] as const)
      expect(await whyOf(document, what)).toContain('write the whole address');
    expect((await send('/api/import?policy=enforce', moved)).json.error).toBe('invalid_argument');
  });

  test('S25.3 each part needs the right of the same change alone, at the commit', async () => {
    const { name, path } = await furnished();
    const text = await exported(path);
    const token = async (rights: object) =>
      (await app.done('POST', '/api/tokens', { body: { name: `t-${++count}`, ...rights } })).token;
    const editor = await token({ projects: [{ project: name, role: 'editor', canChangeProtected: true }] });
    const planner = await token({ projects: [{ project: name, role: 'admin' }], only: 'plan' });
    const admin = await token({ projects: [{ project: name, role: 'admin' }] });

    // Editors neither read nor import them; a token that plans reads them with the role of an administrator.
    expect((await app.call('GET', `${path}/export?${ALL}`, { token: editor })).json.error).toBe('forbidden');
    expect((await app.call('GET', `${path}/export?with=settings`, { token: editor })).status).toBe(200);
    expect((await send('/api/diff', text, editor)).json.error).toBe('forbidden');
    expect((await send('/api/diff', text, planner)).json.same).toBe(true);
    // Of a project that is not there, and of one that the caller does not see: neither says who has an account.
    for (const project of [`absent-${count}`, (await app.project()).name]) {
      const asked = text
        .replace(/^project: .*/m, `project: ${project}`)
        .replace(/^keys:[\s\S]*(?=members:)/m, '');
      for (const path of ['/api/diff', '/api/import'])
        expect((await send(path, asked, admin)).json).toMatchObject({
          error: 'forbidden',
          message: expect.not.stringContaining('@'),
        });
      expect((await send('/api/diff', asked)).status).toBe(200);
    }
    const more = text.replace('keys:\n', 'keys:\n  - {"name": "new", "environments": ["staging"]}\n');
    expect((await send('/api/import', more, planner)).json.error).toBe('forbidden');

    // A color needs no reason where each change of a state has one; ending that does.
    const staging = (settings: object) => ({ name: 'staging', ...settings });
    const declared = (settings: object) =>
      JSON.stringify({ halyard: 2, project: name, environments: [staging(settings)], flags: {} });
    const enforce = (settings: object) => send('/api/import?policy=enforce', declared(settings), admin);
    const recolored = await enforce({ color: 'pink' });
    expect([recolored.status, recolored.json.notAllowed]).toEqual([200, undefined]);
    expect((await enforce({ reasonRequired: false })).json.error).toBe('reason_required');

    // Approvals need protection, as in a change of the environment alone, in one that is there and in a new one.
    for (const unprotected of [
      declared({ approvals: 1 }),
      declared({ protected: false, approvals: 1 }),
      declared({ name: 'qa', protected: false, approvals: 1 }),
      declared({ name: 'production', protected: false, approvals: 2 }),
    ]) {
      const { same, notAllowed } = (await send('/api/diff', unprotected)).json;
      const why = expect.stringContaining('Only a protected environment requires approvals');
      expect([same, notAllowed]).toMatchObject([
        false,
        expect.arrayContaining([expect.objectContaining({ why })]),
      ]);
      expect((await send('/api/import?policy=enforce', unprotected)).json.error).toBe('invalid_argument');
    }
    const bare = declared({ name: 'production', protected: false });
    expect((await send('/api/diff', bare)).json.environmentsUpdated).toMatchObject([
      { before: { approvals: 2 }, after: { protected: false } },
    ]);

    // So do people who can give them; a dry run counts them as well, with the roles of the document.
    const few = {
      halyard: 2,
      project: `${name}-2`,
      environments: [{ name: 'production', approvals: 1 }],
      flags: {},
    };
    const member = { email: 'ben@example.com', role: 'editor', canChangeProtected: true };
    const why = expect.stringContaining('the project has 1: invite more first');
    const what = 'require approvals in "production"';
    expect((await send('/api/diff', JSON.stringify(few))).json.notAllowed).toMatchObject([{ what, why }]);
    expect((await send('/api/import', JSON.stringify(few))).json.message).toContain(what);
    const enough = JSON.stringify({ ...few, members: [member] });
    expect((await send('/api/import?dryRun=true', enough)).json.notAllowed).toEqual([]);

    // An address may not be longer than in a request about the webhook alone.
    const hook = { name: 'long', url: `https://hooks.example.com/${'x'.repeat(2000)}` };
    const long = JSON.stringify({ ...few, environments: [], webhooks: [hook] });
    expect((await send('/api/import', long)).json.message).toContain('longer than 2000 characters');

    // Looser guards need approval, and an unknown person an invitation.
    const looser = text.replace('"approvals": 2', '"approvals": 1').replace('approvals: 2', 'approvals: 1');
    const loosened = await send('/api/import?policy=enforce', looser, admin);
    expect(loosened.json.error).toBe('approval_required');
    const stranger = text.replace('ben@example.com', 'stranger@example.com');
    const unknown = await send('/api/import?policy=enforce', stranger, admin);
    expect([unknown.json.error, unknown.json.message]).toEqual([
      'invalid_argument',
      expect.stringContaining('invite them first'),
    ]);
    const proposed = await send('/api/import?policy=enforce&propose=true', more, admin);
    expect(proposed.json.error).toBe('invalid_argument');

    // An administrator who loses the role while the import runs changes nothing.
    const before = await exported(path);
    app.node.beforeCommit = async () => {
      app.node.beforeCommit = async () => {};
      const { tokens } = await app.done('GET', '/api/tokens');
      const mine = tokens.find((one: { name: string }) => one.name === `t-${count}`);
      await app.done('DELETE', `/api/tokens/${mine.id}`);
    };
    expect((await send('/api/import', more, admin)).json.error).toBe('invalid_access_token');
    expect(await exported(path)).toBe(before);
    expect((await ada.browser.call('GET', '/api/whoami')).status).toBe(200);
  });

  test.each([
    ['halyard: 1\nproject: p\nenvironments: []\nflags: {}\nkeys: []\n', 'Line 5: "keys"'],
    ['halyard: 2\nproject: p\nenvironments: [{name: a, approvals: 3}]\nflags: {}\n', 'approvals'],
    [
      'halyard: 2\nproject: p\nenvironments: []\nflags: {}\nkeys:\n  - {name: k, environments: [a]}\n',
      'Line 6: keys[0]: it reads "a"',
    ],
    ['halyard: 2\nproject: p\nenvironments: []\nflags: {}\nmembers:\n  - {email: x, role: boss}\n', 'Line 6'],
    [
      'halyard: 2\nproject: p\nenvironments: []\nflags: {}\nwebhooks:\n  - {name: h, url: x, key: y}\n',
      'Line 6',
    ],
  ])('S25.1 a mistake is refused with its place: %j', async (text, message) => {
    const { json } = await send('/api/diff', text);
    expect([json.error, json.message]).toEqual(['invalid_argument', expect.stringContaining(message)]);
  });
});
