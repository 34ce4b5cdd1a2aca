import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { HOUR_MS } from '../../domain/clock.ts';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { SqlUsageStore } from './usage-table.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('reports of usage on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  test('an administrator switches them on and off, and the audit log records it', async () => {
    const { name, path } = await app.project();
    expect((await app.call('GET', path)).json.usageSince).toBeUndefined();
    const since = new Date(app.node.now).toISOString();
    const on = await app.call('PATCH', path, { body: { usage: true } });
    expect([on.status, on.json.usageSince, typeof on.json.seq]).toEqual([200, since, 'number']);
    app.node.now += 1000;
    const again = await app.call('PATCH', path, { body: { usage: true } });
    expect([again.json.usageSince, again.json.seq]).toEqual([since, undefined]);
    expect((await app.call('GET', `${path}/usage`)).json).toMatchObject({ since, lastReads: {} });
    const off = await app.call('PATCH', path, { body: { usage: false } });
    expect([off.status, off.json.usageSince]).toEqual([200, undefined]);
    expect((await app.call('GET', `${path}/usage`)).json).toEqual({
      lastReads: {},
      environments: { development: {}, staging: {}, production: {} },
    });
    const { entries } = (await app.call('GET', `/api/audit?project=${name}&action=project.updated`)).json;
    expect(entries).toMatchObject([
      { action: 'project.updated', target: name, before: { usage: true }, after: { usage: false } },
      { action: 'project.updated', target: name, before: { usage: false }, after: { usage: true } },
    ]);
    expect((await app.call('PATCH', path, { body: { usage: 1 } })).json.error).toBe('invalid_argument');
    expect((await app.call('PATCH', '/api/projects/none', { body: {} })).json.error).toBe(
      'project_not_found',
    );
  });

  test('a flag shows its reads by hour and by day, and the project when each flag was last read', async () => {
    const { path } = await app.project();
    for (const key of ['used', 'unused']) await app.call('POST', `${path}/flags`, { body: { key } });
    const { environments } = (await app.call('GET', path)).json;
    const store = new SqlUsageStore(app.home.database);
    const idOf = async (environment: string) => {
      const [row] = await app.home.database.query<{ id: string }>(
        'SELECT e.id FROM environments e JOIN projects p ON p.id = e.project_id WHERE p.name = $1 AND e.name = $2',
        [path.split('/').at(-1) ?? '', environment],
      );
      return row?.id ?? '';
    };
    const environmentId = await idOf('staging');
    // The last hour of a day, a day after the flag was made.
    app.node.now = Math.ceil(app.node.now / (24 * HOUR_MS)) * 24 * HOUR_MS + 48 * HOUR_MS - 1;
    const hour = app.node.now + 1 - HOUR_MS;
    for (const ago of [100, 24, 23, 1, 0, 0])
      await store.add([{ environmentId, flags: [['used', 2, 1]] }], hour - ago * HOUR_MS);
    const iso = (at: number) => new Date(at).toISOString();
    const usage = (await app.call('GET', `${path}/flags/used/usage`)).json;
    expect(usage.environments.map(({ name }: { name: string }) => name)).toEqual(
      environments.map(({ name }: { name: string }) => name),
    );
    const [idle, busy] = usage.environments;
    expect(idle).toEqual({ name: 'development', hours: [], days: [] });
    expect(busy).toEqual({
      name: 'staging',
      lastReadAt: iso(hour),
      hours: [
        { at: iso(hour - 23 * HOUR_MS), on: 2, off: 1 },
        { at: iso(hour - HOUR_MS), on: 2, off: 1 },
        { at: iso(hour), on: 4, off: 2 },
      ],
      // Reads before the flag was made are those of an earlier flag.
      days: [
        { at: iso(hour - 47 * HOUR_MS), on: 2, off: 1 },
        { at: iso(hour - 23 * HOUR_MS), on: 8, off: 4 },
      ],
    });

    const lastReads = { used: iso(hour) };
    expect((await app.call('GET', `${path}/usage`)).json).toEqual({
      lastReads,
      environments: Object.fromEntries(
        environments.map(({ name }: { name: string }) => [name, name === 'staging' ? lastReads : {}]),
      ),
    });
    expect((await app.call('GET', `${path}/flags/none/usage`)).json.error).toBe('flag_not_found');

    // Of several flags at once, in all environments together: without those that were not read or do not exist.
    const production = await idOf('production');
    await store.add([{ environmentId: production, flags: [['used', 5, 0]] }], hour);
    await store.add([{ environmentId: production, flags: [['no-flag', 5, 0]] }], hour);
    const recent = await app.call('GET', `${path}/usage/hours?keys=used,unused,no-flag`);
    expect(recent.json).toEqual({
      flags: {
        used: [
          { at: iso(hour - 23 * HOUR_MS), on: 2, off: 1 },
          { at: iso(hour - HOUR_MS), on: 2, off: 1 },
          { at: iso(hour), on: 9, off: 2 },
        ],
      },
    });
    const tooMany = Array.from({ length: 101 }, (_, index) => `k${index}`).join();
    for (const keys of ['', 'a,,b', 'a b', tooMany])
      expect((await app.call('GET', `${path}/usage/hours?keys=${keys}`)).json.error).toBe('invalid_argument');
  });
});
