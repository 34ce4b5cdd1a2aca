import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ADMIN_TOKEN, openTestApp, type TestApp } from '../management/api/test-app.ts';
import { readAuditPage } from '../nouns/history/audit-query.ts';
import { ENGINES, type TestEngine } from '../storage/test-engines.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('the audit log on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  /** The lines of an export. */
  async function exported(query: string): Promise<string[]> {
    const headers = { Authorization: `Bearer ${ADMIN_TOKEN}` };
    const answer = await app.request(`/api/audit?format=ndjson&${query}`, { headers });
    return (await answer.text()).trim().split('\n');
  }

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

  test('is filtered by actor, action, text and time', async () => {
    const { name, path } = await app.project();
    app.node.now = Date.now();
    const { token } = await app.done('POST', '/api/tokens', { body: { name: `bot-${name}` } });
    await app.call('PUT', `${path}/environments/staging/flags/Needle_1`, { body: { enabled: true }, token });
    await app.done('PUT', `${path}/environments/production/flags/b`, {
      body: { enabled: true },
      headers: { 'X-Change-Note': '100% of a needle' },
    });
    const actions = async (query: string) =>
      (await app.call('GET', `/api/audit?project=${name}&${query}`)).json.entries.map(
        (one: { action: string; target: string }) => `${one.action} ${one.target}`,
      );
    expect(await actions(`actor=token:bot-${name}`)).toEqual([
      'flag.changed Needle_1',
      'flag.created Needle_1',
    ]);
    expect(await actions('action=flag.created')).toEqual(['flag.created b', 'flag.created Needle_1']);
    expect(await actions('action=project')).toEqual([`project.created ${name}`]);
    expect(await actions('action=flag_')).toEqual([]);
    expect((await actions('q=NEEDLE')).length).toBe(4);
    expect(await actions('q=needle_1')).toEqual(['flag.changed Needle_1', 'flag.created Needle_1']);
    expect((await actions('q=100%25')).length).toBe(2);
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    const before = new Date(Date.now() - 3_600_000).toISOString();
    expect(await actions(`since=${soon}`)).toEqual([]);
    expect(await actions(`until=${before}`)).toEqual([]);
    expect((await actions(`since=${before}&until=${soon}`)).length).toBeGreaterThan(5);
    expect((await app.call('GET', '/api/audit?since=yesterday')).json.error).toBe('invalid_argument');
  });

  test('is followed by its cursor to the end, also inside one change and between changes of others', async () => {
    const { name, path } = await app.project();
    const changes = ['a', 'b', 'c'].map((key) => ({ key, state: { enabled: true } }));
    await app.call('POST', `${path}/environments/production/changes`, { body: { changes } });
    await app.call('PUT', `${path}/environments/production/flags/d`, { body: { enabled: true } });
    const query = `/api/audit?project=${name}&limit=1`;
    const seen: string[] = [];
    let page = (await app.call('GET', query)).json;
    for (; page.next !== undefined; page = (await app.call('GET', `${query}&cursor=${page.next}`)).json) {
      seen.push(...page.entries.map((entry: { id: string }) => entry.id));
      await app.call('PUT', `${path}/environments/production/flags/d`, {
        body: { enabled: true, value: seen.length },
      });
    }
    seen.push(...page.entries.map((entry: { id: string }) => entry.id));
    const whole = (await app.call('GET', `/api/audit?project=${name}`)).json.entries;
    expect(new Set(seen).size).toBe(seen.length);
    expect(whole.slice(-seen.length).map((entry: { id: string }) => entry.id)).toEqual(seen);
    const { status, json } = await app.call('GET', '/api/audit?cursor=x');
    expect([status, json.error]).toEqual([400, 'invalid_argument']);
  });

  test('ends a page early when its entries are large, and continues inside the change', async () => {
    const { name } = await app.project();
    const value = 'x'.repeat(60_000);
    const keys = Array.from({ length: 100 }, (_, index) => `f${index}`);
    await app.call('POST', '/api/import', {
      body: {
        halyard: 1,
        project: name,
        environments: ['staging'],
        flags: Object.fromEntries(
          keys.map((key) => [key, { environments: { staging: { enabled: true, value } } }]),
        ),
      },
    });
    const query = `/api/audit?project=${name}&environment=staging&action=flag.changed&limit=1000`;
    const first = (await app.call('GET', query)).json;
    const second = (await app.call('GET', `${query}&cursor=${first.next}`)).json;
    expect([first.entries.length > 50, first.entries.length < 100, second.next]).toEqual([
      true,
      true,
      undefined,
    ]);
    const targets = [...first.entries, ...second.entries].map(({ target }: { target: string }) => target);
    expect(targets.sort()).toEqual(keys.sort());
    const lines = await exported(`project=${name}&environment=staging`);
    expect(lines.length).toBeGreaterThanOrEqual(100);
  });

  test('finds the oldest of many entries by text, noun, actor and time', async () => {
    const { name, path } = await app.project();
    const note = { 'X-Change-Note': 'needle' };
    await app.call('PUT', `${path}/environments/staging/flags/a`, { body: { enabled: true }, headers: note });
    const [old] = (await app.call('GET', `/api/audit?project=${name}&q=needle`)).json.entries;

    const rows = 21_000;
    const series = {
      sqlite: `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows}) SELECT i FROM n`,
      postgres: `SELECT i FROM generate_series(1, ${rows}) AS i`,
    }[engine.name];
    await app.home.database.transaction((tx) =>
      tx.query(
        `INSERT INTO audit_log (id, seq, position, actor, action, project_id, target, at, operation_seq)
          SELECT 'many-' || i, ${old.seq} + i, 0, 'token:other', 'flag.changed', project_id, 'b',
            at + 86400000 * 3 + i, ${old.seq} + i
          FROM (SELECT project_id, at FROM audit_log WHERE id = $1) AS old, (${series}) AS n`,
        [old.id],
      ),
    );

    const day = (days: number) => new Date(Date.parse(old.at) + days * 86_400_000).toISOString();

    for (const filter of [
      'q=needle&target=a',
      'action=flag&target=a',
      'actor=token:admin&target=a',
      `until=${day(2)}&target=a`,
      `since=${day(-0.5)}&until=${day(1)}&target=a`,
    ]) {
      const found = (
        await app.call('GET', `/api/audit?project=${name}&limit=1&environment=staging&${filter}`)
      ).json;
      expect(found.entries).toMatchObject([{ action: 'flag.changed', note: 'needle' }]);
    }

    for (const filter of [
      'q=nothing',
      'action=relay',
      'actor=token:none',
      `since=${day(30)}`,
      `until=${day(-30)}`,
    ]) {
      expect((await app.call('GET', `/api/audit?${filter}`)).json).toEqual({ entries: [] });
    }

    // One read of the store looks through a part of them only.
    const page = await app.home.store.read((db) => readAuditPage(db, { text: 'needle', limit: 1 }));
    expect(page.entries).toEqual([]);
    expect(page.next).toBeDefined();
    const [line] = await exported(`project=${name}&q=needle&target=a&environment=staging`);
    expect(line).toContain(old.id);
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

  test('is exported whole, one entry per line', async () => {
    const { name, path } = await app.project();
    await app.done('PUT', `${path}/environments/production/flags/a`, { body: { enabled: true } });
    const answer = await app.request(`/api/audit?project=${name}&format=ndjson&limit=1`, {
      headers: { Authorization: `Bearer ${ADMIN_TOKEN}` },
    });
    expect(answer.headers.get('Content-Type')).toBe('application/x-ndjson');
    expect(answer.headers.get('Content-Disposition')).toContain('attachment; filename="halyard-audit');
    const lines = (await answer.text())
      .trimEnd()
      .split('\n')
      .map((line): unknown => JSON.parse(line));
    expect(lines).toEqual((await app.call('GET', `/api/audit?project=${name}`)).json.entries);
    expect(lines.length).toBeGreaterThan(4);
    const none = await app.call('GET', '/api/audit?project=none&format=ndjson');
    expect([none.status, none.json.error]).toEqual([404, 'project_not_found']);
  });
});
