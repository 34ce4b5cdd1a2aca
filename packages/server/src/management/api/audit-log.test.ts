import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { openTestApp, type TestApp } from './test-app.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('the audit log on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  test('records who, why and what, and is read in pages', async () => {
    const { name, path } = await app.project();
    const flag = `${path}/environments/production/flags/a`;
    for (const value of [1, 2, 3]) {
      // As a command line sends it: the bytes of UTF-8, one character each.
      const note = Buffer.from(`größer ${value}`).toString('latin1');
      await app.call('PUT', flag, { body: { enabled: true, value }, headers: { 'X-Change-Note': note } });
    }
    const query = `/api/audit?project=${name}&environment=production&target=a`;
    const [newest, ...older] = (await app.call('GET', query)).json.entries;
    expect(newest).toMatchObject({
      actor: 'token:admin',
      action: 'flag.changed',
      note: 'größer 3',
      project: name,
      environment: 'production',
      before: { enabled: true, value: 2 },
      after: { enabled: true, value: 3 },
    });
    expect(older.map((entry: { note: string }) => entry.note)).toEqual(['größer 2', 'größer 1']);
    const unset = await app.call('GET', `${query}&before=`);
    expect([unset.status, unset.json.error]).toEqual([400, 'invalid_argument']);
    const page = await app.call('GET', `${query}&before=${newest.seq}&limit=1`);
    expect(page.json.entries).toEqual([older[0]]);
  });

  test('records the address that a trusted proxy saw, not the one that the caller claims', async () => {
    const { name, path } = await app.project();
    const flag = `${path}/environments/production/flags/a`;
    const headers = { 'X-Forwarded-For': '198.51.100.7, 203.0.113.9' };
    await app.call('PUT', flag, { body: { enabled: true }, headers });
    const [entry] = (await app.call('GET', `/api/audit?project=${name}&target=a&limit=1`)).json.entries;
    expect(entry.ip).toBe('203.0.113.9');
  });

  test.each([
    ['limit=0', 400],
    ['limit=many', 400],
    ['limit=1&limit=2', 400],
    ['enviroment=production', 400],
    ['environment=production', 400],
    ['project=none', 404],
  ])('the query %s answers %i', async (query, status) => {
    expect((await app.call('GET', `/api/audit?${query}`)).status).toBe(status);
  });
});
