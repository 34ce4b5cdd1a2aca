import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { join } from '../../management/api/test-browser.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('archived flags on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const value = '{"10":1.0,"9":12345678901234567890}';

  async function projectWithFlag() {
    const project = await app.project();
    const body = `{"key":"old","owner":"Team A","tags":["ui"],"states":
      {"production":{"enabled":true,"value":${value}},"staging":{"enabled":false}}}`;
    expect((await app.call('POST', `${project.path}/flags`, { body })).status).toBe(201);
    return { ...project, flag: `${project.path}/flags/old` };
  }

  const statesOf = async (path: string, environment: string) =>
    (await app.call('GET', `${path}/environments/${environment}/flags`)).json;

  test('an archived flag is not served, and gets its states back when it is restored', async () => {
    const { path, flag } = await projectWithFlag();
    const archived = await app.call('POST', `${flag}/archive`);
    expect(archived.status).toBe(200);
    expect(archived.json).toMatchObject({ key: 'old', owner: 'Team A', environments: {} });
    expect(archived.json.archivedAt).toMatch(/^\d{4}-/);
    expect(archived.json.seq).toBeNumber();
    expect(await statesOf(path, 'production')).toMatchObject({ revision: 2, flags: [] });
    expect(await statesOf(path, 'development')).toMatchObject({ revision: 0, flags: [] });
    const restored = await app.call('POST', `${flag}/restore`);
    expect(restored.json.archivedAt).toBeUndefined();
    expect(restored.text).toContain(`"state":{"enabled":true,"value":${value}}`);
    expect(await statesOf(path, 'staging')).toMatchObject({
      revision: 3,
      flags: [{ key: 'old', state: { enabled: false } }],
    });
  });

  test('an environment that is made again gets no state of the one before it back', async () => {
    const { name, path, flag } = await projectWithFlag();
    await app.call('POST', `${flag}/archive`);
    const remake = async () => {
      expect((await app.call('DELETE', `${path}/environments/production`)).status).toBe(200);
      expect((await app.call('POST', `${path}/environments`, { body: { name: 'production' } })).status).toBe(
        201,
      );
    };
    await remake();
    const exported = async () =>
      (await app.call('GET', `/api/projects/${name}/export?format=json`)).json.flags.old.environments;
    expect(await exported()).toEqual({ staging: { enabled: false } });
    const { json } = await app.call('POST', `${flag}/restore`);
    expect(json.environments).toEqual({ staging: expect.anything() });

    // An older version had left the state with the flag.
    await app.call('PUT', `${path}/environments/production/flags/old`, { body: { enabled: true } });
    await app.call('POST', `${flag}/archive`);
    const stored = () =>
      app.home.database.query<{ states: string }>(
        "SELECT archived_states AS states FROM flags WHERE key = 'old' AND project_id = (SELECT id FROM projects WHERE name = $1)",
        [name],
      );
    const [before] = await stored();
    app.node.now += 3_600_000;
    await remake();
    await app.home.database.query(
      "UPDATE flags SET archived_states = $2 WHERE key = 'old' AND project_id = (SELECT id FROM projects WHERE name = $1)",
      [name, before?.states ?? ''],
    );
    expect((await stored())[0]?.states).toContain('"enabled":true');
    expect(await exported()).toEqual({ staging: { enabled: false } });
    const again = await app.call('POST', `${flag}/restore`);
    expect(again.json.environments).toEqual({ staging: expect.anything() });
  });

  test('archiving an archived flag and restoring one in use change nothing', async () => {
    const { flag } = await projectWithFlag();
    const unchanged = await app.call('POST', `${flag}/restore`);
    expect([unchanged.status, unchanged.json.seq]).toEqual([200, undefined]);
    const first = await app.call('POST', `${flag}/archive`);
    const again = await app.call('POST', `${flag}/archive`);
    expect([again.status, again.json.seq]).toEqual([200, undefined]);
    expect(again.json.archivedAt).toBe(first.json.archivedAt);
  });

  test('every way to write a state of an archived flag is refused', async () => {
    const { path, flag } = await projectWithFlag();
    await app.call('POST', `${flag}/archive`);
    const production = `${path}/environments/production`;
    const state = { enabled: true };
    for (const [method, at, body] of [
      ['PUT', `${production}/flags/old`, state],
      ['PATCH', `${production}/flags/old`, state],
      ['POST', `${production}/changes`, { changes: [{ key: 'old', state }] }],
      [
        'POST',
        `${production}/changes`,
        {
          changes: [
            { key: 'new', state },
            { key: 'old', state },
          ],
        },
      ],
    ] as const) {
      const { status, json } = await app.call(method, at, { body });
      expect([at, status, json.error]).toEqual([at, 409, 'flag_archived']);
      expect(json.message).toContain('restore');
    }
    expect(await statesOf(path, 'production')).toMatchObject({ revision: 2, flags: [] });
    const taken = await app.call('POST', `${path}/flags`, { body: { key: 'old' } });
    expect([taken.json.error, taken.json.message]).toEqual([
      'already_exists',
      expect.stringContaining('archived'),
    ]);
  });

  test('only an archived flag can be deleted, permanently', async () => {
    const { flag } = await projectWithFlag();
    const refused = await app.call('DELETE', flag);
    expect([refused.status, refused.json.error]).toEqual([409, 'flag_not_archived']);
    await app.call('POST', `${flag}/archive`);
    expect((await app.call('DELETE', flag)).status).toBe(200);
    for (const [method, at] of [
      ['GET', flag],
      ['DELETE', flag],
      ['POST', `${flag}/archive`],
      ['POST', `${flag}/restore`],
    ] as const) {
      expect((await app.call(method, at)).json.error).toBe('flag_not_found');
    }
  });

  test('a flag in use is deleted in one change, which can be reverted', async () => {
    const { path, flag } = await projectWithFlag();
    const { seq } = (await app.call('DELETE', `${flag}?archive=true`)).json;
    expect((await app.call('GET', flag)).json.error).toBe('flag_not_found');
    expect(await statesOf(path, 'production')).toMatchObject({ revision: 2, flags: [] });
    const reverted = await app.call('POST', `/api/changes/${seq}/revert`, { body: {} });
    expect(reverted.status).toBe(200);
    const back = await app.call('GET', flag);
    expect(back.json).toMatchObject({ owner: 'Team A', tags: ['ui'] });
    expect(back.json.archivedAt).toBeUndefined();
    expect(back.text).toContain(`"state":{"enabled":true,"value":${value}}`);
    await app.call('POST', `${flag}/archive`);
    expect((await app.call('DELETE', `${flag}?archive=true`)).status).toBe(200);
    expect((await app.call('DELETE', `${flag}?archive=yes`)).json.error).toBe('invalid_argument');
  });

  test('a refused deletion leaves the flag in use', async () => {
    const { path, flag } = await projectWithFlag();
    const name = `editor-${path}`;
    const body = { name, role: 'editor', canChangeProtected: true };
    const { token } = (await app.call('POST', '/api/tokens', { body })).json;
    const editor = await app.call('DELETE', `${flag}?archive=true`, { token });
    expect([editor.status, editor.json.error]).toEqual([403, 'forbidden']);
    const { browser } = await join(app, { email: `ada-${Date.now()}@example.com`, role: 'admin' });
    const unasked = await browser.call('DELETE', `${flag}?archive=true`);
    expect([unasked.status, unasked.json.error]).toEqual([428, 'confirmation_required']);
    expect(await statesOf(path, 'production')).toMatchObject({ revision: 1, flags: [{ key: 'old' }] });
    expect(await statesOf(path, 'staging')).toMatchObject({ revision: 1, flags: [{ key: 'old' }] });
    const headers = { 'X-Confirm-Environment': 'production' };
    expect((await browser.call('DELETE', `${flag}?archive=true`, { headers })).status).toBe(200);
  });

  test('a restore skips states written since and deleted environments', async () => {
    const { path, flag } = await projectWithFlag();
    await app.call('POST', `${flag}/archive`);
    await app.call('DELETE', `${path}/environments/staging`);
    const restored = await app.call('POST', `${flag}/restore`);
    expect(Object.keys(restored.json.environments)).toEqual(['production']);
  });

  test('archives several flags one by one: a refusal of one does not affect the others', async () => {
    const { path } = await projectWithFlag();
    const answer = await app.call('POST', `${path}/flags/archive`, {
      body: { keys: ['old', 'none', 'old'] },
    });
    expect(answer.json.results).toEqual([
      { key: 'old', archived: true, seq: expect.any(Number) },
      { key: 'none', error: 'flag_not_found', message: expect.stringContaining('none') },
    ]);
    const empty = await app.call('POST', `${path}/flags/archive`, { body: { keys: [] } });
    expect(empty.json.error).toBe('invalid_argument');
  });

  test('lists archived flags only on request, and filters by words, tag and owner', async () => {
    const { path, flag } = await projectWithFlag();
    await app.call('POST', `${path}/flags`, {
      body: { key: 'new', description: 'Old times', owner: 'Team B' },
    });
    const keys = async (query: string) =>
      (await app.call('GET', `${path}/flags${query}`)).json.flags.map((one: { key: string }) => one.key);
    expect(await keys('?q=OLD')).toEqual(['new', 'old']);
    await app.call('POST', `${flag}/archive`);
    expect(await keys('')).toEqual(['new']);
    expect(await keys('?archived=true')).toEqual(['old']);
    expect(await keys('?archived=all')).toEqual(['new', 'old']);
    expect(await keys('?archived=all&tag=ui')).toEqual(['old']);
    expect(await keys('?archived=all&owner=team%20b')).toEqual(['new']);
    expect(await keys('?q=team')).toEqual(['new']);
    expect((await app.call('GET', `${path}/flags?archived=yes`)).json.error).toBe('invalid_argument');
  });

  test('an export has archived flags, and an enforced import leaves them archived', async () => {
    const { path, flag } = await projectWithFlag();
    await app.call('POST', `${flag}/archive`);
    const exported = await app.call('GET', `${path}/export`);
    expect(exported.json.flags.old.archived).toBe(true);
    const enforced = await app.call('POST', '/api/import?policy=enforce', { body: exported.text });
    expect([enforced.status, enforced.json.flagsRestored]).toEqual([200, []]);
    expect((await app.call('GET', flag)).json.archivedAt).toBeString();
  });

  test('one of a restore and a deletion at the same moment wins, completely', async () => {
    const { path } = await app.project();
    for (const key of ['a', 'b', 'c', 'd', 'e']) {
      const states = { production: { enabled: true } };
      await app.call('POST', `${path}/flags`, { body: { key, states } });
      await app.call('POST', `${path}/flags/${key}/archive`);
      const [restored, deleted] = await Promise.all([
        app.call('POST', `${path}/flags/${key}/restore`),
        app.call('DELETE', `${path}/flags/${key}`),
      ]);
      const { flags } = await statesOf(path, 'production');
      const isServed = flags.some((one: { key: string }) => one.key === key);
      expect([restored.status, deleted.status, isServed]).toEqual(
        restored.status === 200 ? [200, 409, true] : [404, 200, false],
      );
    }
  });

  test('the appearance of an environment changes without a revision', async () => {
    const { path } = await app.project();
    const production = `${path}/environments/production`;
    const changed = await app.call('PATCH', production, { body: { color: 'violet', position: 0 } });
    expect(changed.json).toMatchObject({
      name: 'production',
      color: 'violet',
      position: 0,
      protected: true,
      revision: 0,
      seq: expect.any(Number),
    });
    const listed = await app.call('GET', `${path}/environments`);
    expect(listed.json.environments.map((one: { name: string }) => one.name)).toEqual([
      'development',
      'production',
      'staging',
    ]);
    const same = await app.call('PATCH', production, { body: { color: 'violet' } });
    expect(same.json.seq).toBeUndefined();
    for (const body of [{ color: 'mauve' }, { position: -1 }, { position: 0.5 }, { name: 'x' }]) {
      expect((await app.call('PATCH', production, { body })).json.error).toBe('invalid_argument');
    }
    const none = await app.call('PATCH', `${path}/environments/none`, { body: { protected: true } });
    expect(none.json.error).toBe('environment_not_found');
    const unprotected = await app.call('PATCH', production, { body: { protected: false } });
    expect(unprotected.json.protected).toBe(false);
    const entries = (await app.call('GET', `/api/audit?action=environment.updated&limit=1`)).json.entries;
    expect(entries[0]).toMatchObject({ target: 'production', before: { protected: true } });
  });

  test('a failure in the middle reports which flags were archived', async () => {
    const { path } = await app.project();
    for (const key of ['a', 'b', 'c']) await app.call('POST', `${path}/flags`, { body: { key } });
    const before = app.node.waitForApplied;
    let applied = 0;
    app.node.waitForApplied = async () => {
      if (++applied === 2) app.node.isLost = true;
    };
    const loggedBefore = app.logged.length;
    const { status, json } = await app.call('POST', `${path}/flags/archive`, {
      body: { keys: ['a', 'b', 'c', 'd'] },
      headers: { 'X-Request-Id': 'bulk' },
    });
    expect(app.logged.slice(loggedBefore).map((line) => JSON.parse(line))).toMatchObject([
      { level: 50, requestId: 'bulk', err: { message: 'the log is lost' } },
    ]);
    Object.assign(app.node, { waitForApplied: before, isLost: false });
    expect(status).toBe(200);
    expect(json.results).toMatchObject([
      { key: 'a', archived: true },
      { key: 'b', archived: true },
      { key: 'c', error: 'internal_error' },
      { key: 'd', error: 'internal_error' },
    ]);
    expect((await app.call('GET', `${path}/flags/c`)).json.archivedAt).toBeUndefined();
  });
});
