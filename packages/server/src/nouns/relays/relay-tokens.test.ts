import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { digestOf } from '../../domain/secret.ts';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { loadSnapshot } from '../../storage/change-log.ts';
import { storeLastUse } from '../../storage/last-use.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { readLog } from '../../storage/test-records.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('relay tokens on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeEach(async () => {
    app = await openTestApp(engine);
  });
  afterEach(() => app.close());

  test('a token is shown once, its digest goes into the log, and revoking it does too', async () => {
    await app.call('POST', '/api/projects', { body: { name: 'shop' } });
    const body = { name: 'frankfurt', projects: ['shop'], environments: ['production'] };
    const { status, json, text } = await app.call('POST', '/api/relay-tokens', { body });
    expect(status).toBe(201);
    expect(json).toMatchObject(body);
    expect(json.token).toMatch(/^hrl_\w{43}$/);

    const list = await app.call('GET', '/api/relay-tokens');
    expect(list.json.relayTokens).toMatchObject([{ id: json.id, ...body }]);
    expect(list.text).not.toContain(json.token);
    const { relays, projects } = await loadSnapshot(app.home.database);
    const stored = { id: json.id, digest: digestOf(json.token), environments: ['production'] };
    expect(relays).toEqual([{ ...stored, projects: projects.map(({ id }) => id) }]);
    expect(text).not.toContain(stored.digest);

    const revoked = await app.call('DELETE', `/api/relay-tokens/${json.id}`);
    const [row] = await readLog(app.home.database, revoked.json.seq - 1, 1);
    expect(row?.kind).toBe('relay.revoked');
    expect(row?.payload).toContain(stored.digest);
    expect((await loadSnapshot(app.home.database)).relays).toEqual([]);
    // Repeating it changes nothing, and the name is free again.
    expect((await app.call('DELETE', `/api/relay-tokens/${json.id}`)).json).toEqual({});
    expect((await app.call('POST', '/api/relay-tokens', { body })).status).toBe(201);
    const audit = await app.call('GET', '/api/audit?action=relay');
    expect(audit.json.entries.map(({ action }: { action: string }) => action)).toEqual([
      'relay.created',
      'relay.revoked',
      'relay.created',
    ]);
  });

  test('says how many of its projects were deleted, also after one of that name was made again', async () => {
    for (const name of ['shop', 'blog']) await app.call('POST', '/api/projects', { body: { name } });
    await app.call('POST', '/api/relay-tokens', { body: { name: 'edge', projects: ['shop', 'blog'] } });
    await app.call('DELETE', '/api/projects/shop');
    await app.call('POST', '/api/projects', { body: { name: 'shop' } });
    const { json } = await app.call('GET', '/api/relay-tokens');
    expect(json.relayTokens[0]).toMatchObject({ projects: ['blog'], deletedProjects: 1 });
  });

  test('a token without a scope gets everything, and its last contact is shown', async () => {
    const { json } = await app.call('POST', '/api/relay-tokens', { body: { name: 'all' } });
    expect([json.projects, json.environments, json.lastUsedAt]).toEqual([undefined, undefined, undefined]);
    await storeLastUse(app.home.store, 'relay_tokens', [[json.id, Date.parse('2027-01-31T12:00:00Z')]]);
    const list = await app.call('GET', '/api/relay-tokens');
    expect(list.json.relayTokens[0].lastUsedAt).toBe('2027-01-31T12:00:00.000Z');
  });

  test.each([
    ['a project that does not exist', { projects: ['nothing'] }, 404, 'project_not_found'],
    ['an environment that no project has', { environments: ['nothing'] }, 404, 'environment_not_found'],
    ['an empty list', { environments: [] }, 400, 'invalid_argument'],
    ['a name that is used', { name: 'used' }, 409, 'already_exists'],
  ])('%s is refused', async (_, body, status, error) => {
    await app.call('POST', '/api/relay-tokens', { body: { name: 'used' } });
    const refused = await app.call('POST', '/api/relay-tokens', { body: { name: 'new', ...body } });
    expect([refused.status, refused.json.error]).toEqual([status, error]);
  });
});
