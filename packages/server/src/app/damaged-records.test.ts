import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ADMIN_TOKEN, openTestApp, type TestApp } from '../management/api/test-app.ts';
import { join } from '../management/api/test-browser.ts';
import { ENGINES, type TestEngine } from '../storage/test-engines.ts';

setDefaultTimeout(60_000);

/** Later than any date: both engines keep it. SQLite keeps a text in a number's column as well. */
const DAMAGE = { postgres: [9e15], sqlite: [9e15, 'soon'] } as const;

describe.each(ENGINES)('damaged records on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  async function set(table: string, column: string, id: string, value: string | number): Promise<void> {
    const name = table === 'flag_states' ? 'flag_key' : table === 'flags' ? 'key' : 'id';
    await app.home.database.transaction((tx) =>
      tx.query(`UPDATE ${table} SET ${column} = $1 WHERE ${name} = $2`, [value, id]),
    );
  }

  test.each(DAMAGE[engine.name])(
    'a key or token whose expiry is %j is listed as damaged and can be revoked',
    async (value) => {
      const { path } = await app.project();
      const key = { name: 'damaged', environments: ['staging'] };
      const expiresAt = new Date(app.node.now + 3_600_000).toISOString();
      const { id: keyId } = (await app.call('POST', `${path}/keys`, { body: { ...key, expiresAt } })).json;
      const token = { name: `damaged ${value}`, role: 'admin', expiresAt };
      const { id: tokenId, token: secret } = (await app.call('POST', '/api/tokens', { body: token })).json;
      // Of a time that is far away nothing else is wrong: it is the creation's that cannot be read.
      const column = typeof value === 'number' ? 'created_at' : 'expires_at';
      await set('project_keys', column, keyId, value);
      await set('access_tokens', column, tokenId, value);
      const { keys } = (await app.call('GET', `${path}/keys`)).json;
      expect(keys).toMatchObject([
        { id: keyId, damaged: true, ...(column === 'expires_at' && { status: 'expired' }) },
      ]);
      const { tokens } = (await app.call('GET', '/api/tokens')).json;
      expect(tokens.find(({ id }: { id: string }) => id === tokenId)).toMatchObject({ damaged: true });
      if (column === 'expires_at') {
        expect((await app.call('GET', '/api/whoami', { token: secret })).status).toBe(401);
      }
      const revoked = await app.call('DELETE', `/api/keys/${keyId}`);
      expect([revoked.status, revoked.json.status]).toEqual([200, 'revoked']);
      expect((await app.call('DELETE', `/api/tokens/${tokenId}`)).status).toBe(200);
      expect((await app.call('GET', '/api/whoami', { token: secret })).status).toBe(401);
    },
  );

  test.each(DAMAGE[engine.name])('no list ends at a record whose time is %j', async (value) => {
    const { path } = await app.project();
    const email = `eve-${typeof value}@example.com`;
    const { id: operatorId } = await join(app, { email, role: 'viewer' });
    const { id: linkId } = (
      await app.call('POST', '/api/invitations', { body: { email: `new-${email}`, role: 'viewer' } })
    ).json;

    const production = `${path}/environments/production`;
    await app.call('PUT', `${production}/flags/a`, { body: { enabled: true } });
    const later = {
      environment: 'production',
      dueAt: new Date(app.node.now + 3_600_000).toISOString(),
      changes: [{ key: 'a', state: null }],
    };
    const { id: scheduleId } = (await app.call('POST', `${path}/schedules`, { body: later })).json;

    const steps = [10, 20].map((rolloutPct) => ({ rolloutPct, waitMinutes: 60 }));
    const plan = { flag: 'b', environment: 'production', steps };
    await app.call('PUT', `${production}/flags/b`, { body: { enabled: false } });
    const { id: planId } = (await app.call('POST', `${path}/rollouts`, { body: plan })).json;

    for (const column of ['due_at', 'created_at', 'status_at'])
      await set('rollout_plans', column, planId, value);
    await set('rollout_plans', 'ran', planId, '[{');
    await set('operators', 'last_seen_at', operatorId, value);
    await set('operators', 'created_at', operatorId, value);
    await set('invitations', 'expires_at', linkId, value);
    await set('scheduled_changes', 'due_at', scheduleId, value);
    await set('scheduled_changes', 'changes', scheduleId, '[{');
    await set('flag_states', 'updated_at', 'a', value);
    await set('flags', 'created_at', 'a', value);
    await app.home.database.transaction((tx) =>
      tx.query('UPDATE audit_log SET at = $1 WHERE target = $2', [value, 'a']),
    );

    for (const [at, known] of [
      ['/api/operators', operatorId],
      ['/api/invitations', linkId],
      [`${path}/schedules`, scheduleId],
      [`${path}/rollouts`, planId],
      [`${path}/flags`, '"a"'],
      [`${production}/flags`, '"a"'],
      ['/api/audit?limit=1000', '"a"'],
      [`${path}/export`, '"a"'],
    ] as const) {
      const { status, text } = await app.call('GET', at);
      expect([at, status, text.includes(known)]).toEqual([at, 200, true]);
    }

    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    const lines = await (await app.request('/api/audit?format=ndjson', { headers })).text();
    for (const line of lines.trim().split('\n')) JSON.parse(line);

    expect((await app.call('DELETE', `${path}/schedules/${scheduleId}`)).status).toBe(200);
    expect((await app.call('POST', `${path}/rollouts/${planId}/stop`)).status).toBe(200);
    expect((await app.call('DELETE', `/api/invitations/${linkId}`)).status).toBe(200);
    expect((await app.call('DELETE', `/api/operators/${operatorId}`)).status).toBe(200);
    await app.call('DELETE', path);
  });

  test('a session with unreadable times grants no access', async () => {
    const { browser } = await join(app, { email: 'sid@example.com', role: 'viewer' });
    expect((await browser.call('GET', '/api/whoami')).status).toBe(200);
    const nothing = engine.name === 'sqlite' ? 'soon' : -1;
    await app.home.database.transaction((tx) =>
      tx.query('UPDATE sessions SET created_at = $1, last_used_at = $1', [nothing]),
    );
    expect((await browser.call('GET', '/api/whoami')).status).toBe(401);
  });
});
