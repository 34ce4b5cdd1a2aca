import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SYSTEM } from '../../domain/audit.ts';
import { HOUR_MS } from '../../domain/clock.ts';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { runDueSchedules } from './schedule-runner.ts';
import { insertSchedule, KEPT_SCHEDULES, readSchedule, settleSchedule } from './schedule-table.ts';
import { scheduleTests } from './test-schedules.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('schedules on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const { scheduled, schedule, pass, recordOf, flagsOf } = scheduleTests(() => app);
  const on = { enabled: true };

  test('a scheduled change runs once, when it is due and not before, as one revision', async () => {
    const made = await scheduled(
      [
        { key: 'a', state: on },
        { key: 'b', patch: { rolloutPct: 5 } },
      ],
      { note: 'launch' },
    );
    expect(made.record).toMatchObject({
      environment: 'production',
      note: 'launch',
      createdBy: 'token:admin',
      changes: [
        { key: 'a', state: on },
        { key: 'b', patch: { rolloutPct: 5 } },
      ],
    });

    const search = await app.call('GET', `/api/audit?project=${made.name}&q=launch`);
    expect(search.json.entries).toMatchObject([{ action: 'schedule.created', note: 'launch' }]);
    expect(search.json.entries[0].after.note).toBeUndefined();

    const early = await runDueSchedules(app.context);
    expect(early).toEqual({ settled: [], errors: [], nextDueAt: Date.parse(made.record.dueAt) });

    pass();
    expect((await runDueSchedules(app.context)).settled).toEqual([{ id: made.id, status: 'done' }]);
    expect(await flagsOf(made.path)).toMatchObject({
      revision: 1,
      flags: [
        { key: 'a', state: on },
        { key: 'b', state: { enabled: false, rolloutPct: 5 } },
      ],
    });
    expect(await runDueSchedules(app.context)).toEqual({ settled: [], errors: [] });

    const record = await recordOf(made);
    expect([record.status, record.settledAt]).toEqual(['done', new Date(app.node.now).toISOString()]);
    const change = await app.call('GET', `/api/changes/${record.seq}`);
    expect(change.json).toMatchObject({
      actor: 'token:admin',
      note: `Schedule ${made.id}: launch`,
      revision: 1,
      revertible: true,
    });
    expect(change.json.entries.map((one: { action: string }) => one.action)).toEqual([
      ...['schedule.applied', 'flag.changed', 'flag.changed'],
    ]);

    const undone = await app.call('POST', `/api/changes/${record.seq}/revert`, { body: {} });
    expect(undone.status).toBe(200);
    expect((await flagsOf(made.path)).flags).toEqual([]);
  });

  test('a patch is applied to the state at that time, and a value keeps its text', async () => {
    const { path } = await app.project();
    const value = '{"10":1.0,"9":12345678901234567890}';
    const production = `${path}/environments/production`;
    const body = `{"environment":"production","dueAt":"${new Date(app.node.now + HOUR_MS).toISOString()}",
      "changes":[{"key":"a","patch":{"enabled":true,"unset":["rolloutPct"]}},{"key":"b","patch":{"value": ${value}}}]}`;
    for (const key of ['a', 'b']) await app.call('POST', `${path}/flags`, { body: { key } });
    const made = await app.call('POST', `${path}/schedules`, { body });
    expect(made.text).toContain(`"value":${value}`);
    await app.call('PUT', `${production}/flags/a`, { body: { enabled: false, value: 7, rolloutPct: 3 } });
    pass();
    await runDueSchedules(app.context);
    const listed = await app.call('GET', `${production}/flags`);
    expect(listed.text).toContain('"state":{"enabled":true,"value":7}');
    expect(listed.text).toContain(`"state":{"enabled":false,"value":${value}}`);
  });

  test('a change without effect succeeds', async () => {
    const made = await scheduled([{ key: 'gone', state: null }]);
    pass();
    expect((await runDueSchedules(app.context)).settled).toEqual([{ id: made.id, status: 'done' }]);
    const record = await recordOf(made);
    const change = await app.call('GET', `/api/changes/${record.seq}`);
    expect(change.json.revertible).toBe(false);
  });

  test('a canceled schedule never runs, and one that has run cannot be canceled', async () => {
    const made = await scheduled([{ key: 'a', state: on }]);
    const cancelled = await app.call('DELETE', `${made.path}/schedules/${made.id}`);
    expect([cancelled.status, cancelled.json.status]).toEqual([200, 'cancelled']);
    const again = await app.call('DELETE', `${made.path}/schedules/${made.id}`);
    const { seq, ...record } = cancelled.json;
    expect([again.status, again.json, typeof seq]).toEqual([200, record, 'number']);
    pass();
    expect((await runDueSchedules(app.context)).settled).toEqual([]);
    expect((await flagsOf(made.path)).flags).toEqual([]);
    const other = await scheduled([{ key: 'a', state: on }]);
    pass();
    await runDueSchedules(app.context);
    const late = await app.call('DELETE', `${other.path}/schedules/${other.id}`);
    expect([late.status, late.json.error]).toEqual([409, 'not_revertible']);
    const foreign = await app.call('DELETE', `${made.path}/schedules/${other.id}`);
    expect([foreign.status, foreign.json.error]).toEqual([404, 'not_found']);
  });

  const production = 'environments/production';
  const zombie = 'zombie';

  /** Ways to remove the flag "zombie" from production, with the later status of its schedule in staging. */
  const REMOVALS: readonly [string, string, 'cancelled' | 'pending', (path: string) => Promise<unknown>][] = [
    ['archived', 'was archived', 'cancelled', (path) => app.call('POST', `${path}/flags/${zombie}/archive`)],
    [
      ...(['deleted', 'was archived', 'cancelled'] as const),
      async (path) => {
        await app.call('POST', `${path}/flags/${zombie}/archive`);
        await app.call('DELETE', `${path}/flags/${zombie}`);
      },
    ],
    [
      ...(['removed from the environment', 'was removed from production', 'pending'] as const),
      (path) => app.call('DELETE', `${path}/${production}/flags/${zombie}`),
    ],
    [
      ...(['removed by a change of several flags', 'was removed from production', 'pending'] as const),
      (path) =>
        app.call('POST', `${path}/${production}/changes`, {
          body: { changes: [{ key: zombie, state: null }] },
        }),
    ],
    [
      ...(['removed by a copy', 'was removed from production', 'pending'] as const),
      (path) =>
        app.call('POST', `${path}/${production}/copy`, { body: { from: 'development', deletes: true } }),
    ],
    [
      ...(['removed by an import', 'was removed from production', 'pending'] as const),
      (path) =>
        app.call('POST', '/api/import?policy=enforce&prune=true', {
          body: { halyard: 1, project: path.split('/').at(-1), environments: ['production'], flags: {} },
        }),
    ],
  ];

  test.each(REMOVALS)(
    'a flag that was %s does not come back by a schedule',
    async (_, reason, elsewhereIs, remove) => {
      const { path } = await app.project();
      const state = { enabled: true, value: 'v' };
      await app.call('PUT', `${path}/${production}/flags/${zombie}`, { body: state });
      const whole = [
        { key: 'other', state: on },
        { key: zombie, patch: { enabled: true } },
      ];
      const doomed = (await schedule(path, whole)).json.id;
      const untouched = (await schedule(path, [{ key: 'other', patch: { rolloutPct: 5 } }])).json.id;
      const elsewhere = { environment: 'staging' };
      const inStaging = (await schedule(path, [{ key: zombie, state: on }], elsewhere)).json.id;
      await remove(path);
      expect(await recordOf({ path, id: doomed })).toMatchObject({
        status: 'cancelled',
        error: expect.stringContaining(reason),
      });
      expect((await recordOf({ path, id: inStaging })).status).toBe(elsewhereIs);
      pass();
      const { settled } = await runDueSchedules(app.context);
      expect(settled).toContainEqual({ id: untouched, status: 'done' });
      expect(settled.map(({ id }) => id)).not.toContain(doomed);
      const { flags } = await flagsOf(path);
      expect(flags.map((one: { key: string }) => one.key)).toEqual(['other']);
    },
  );

  test('a schedule for a flag that does not exist is refused', async () => {
    const { path } = await app.project();
    const dueAt = new Date(app.node.now + HOUR_MS).toISOString();
    const changes = [{ key: 'tyypo', patch: { enabled: true } }];
    const refused = await app.call('POST', `${path}/schedules`, {
      body: { environment: 'production', dueAt, changes },
    });
    expect([refused.status, refused.json.error]).toEqual([404, 'flag_not_found']);
  });

  test('an archived flag that is restored by a revert comes back, its canceled schedules do not', async () => {
    const made = await scheduled([{ key: 'a', state: on }]);
    const { seq } = (await app.call('POST', `${made.path}/flags/a/archive`)).json;
    const reverted = await app.call('POST', `/api/changes/${seq}/revert`, { body: {} });
    expect(reverted.status).toBe(200);
    expect((await app.call('GET', `${made.path}/flags/a`)).json.archivedAt).toBeUndefined();
    expect((await recordOf(made)).status).toBe('cancelled');
  });

  test('scheduling a change needs the permission to make it now', async () => {
    const { path } = await app.project();
    const editor = await app.call('POST', '/api/tokens', {
      body: { name: `plain${path}`, role: 'editor', canChangeProtected: false },
    });
    const { token } = editor.json;
    const refused = await schedule(path, [{ key: 'a', state: on }], {}, { token });
    expect([refused.status, refused.json.error]).toEqual([403, 'forbidden']);
    const allowed = await schedule(path, [{ key: 'a', state: on }], { environment: 'staging' }, { token });
    expect(allowed.status).toBe(201);
    const theirs = await schedule(path, [{ key: 'a', state: on }]);
    const cancelled = await app.call('DELETE', `${path}/schedules/${theirs.json.id}`, { token });
    expect([cancelled.status, cancelled.json.error]).toEqual([403, 'forbidden']);
    await app.call('DELETE', path);
  });

  test.each([
    [[], {}, '"changes" has 0 entries'],
    [[{ key: 'a' }], {}, 'state'],
    [[{ key: 'a', state: on, patch: on }], {}, 'unknown member'],
    [[{ key: 'a', state: on }], { paused: true }, 'paused'],
    [[{ key: 'a', state: { ...on, rollout: 5 } }], {}, 'rollout'],
    [[{ key: 'a', patch: { ...on, percent: 5 } }], {}, 'percent'],
    [[{ key: 'a b', state: on }], {}, 'cannot be a flag key'],
    [
      [
        { key: 'a', state: on },
        { key: 'a', state: null },
      ],
      {},
      'more than once',
    ],
    [[{ key: 'a', state: { enabled: 1 } }], {}, 'changes[0].state.enabled'],
    [[{ key: 'a', patch: { enabled: 1 } }], {}, 'changes[0].patch.enabled'],
    [[{ key: 'a', patch: { rolloutPct: 101 } }], {}, 'rolloutPct'],
    [[{ key: 'a', patch: { value: 1, unset: ['value'] } }], {}, 'choose one'],
    [[{ key: 'a', state: on }], { dueAt: '2020-01-01T00:00:00Z' }, 'not in the future'],
    [[{ key: 'a', state: on }], { dueAt: 'tomorrow' }, 'dueAt'],
    [[{ key: 'a', state: on }], { note: 'x'.repeat(1001) }, 'at most 1000'],
  ])('the schedule %j %j is refused', async (changes, more, sentence) => {
    const { path } = await app.project();
    const { status, json } = await schedule(path, changes, more);
    expect([status, json.error]).toEqual([400, 'invalid_argument']);
    expect(json.message).toContain(sentence);
  });

  test('a change of an archived flag or a missing environment cannot be scheduled', async () => {
    const { path } = await app.project();
    await app.call('POST', `${path}/flags`, { body: { key: 'old' } });
    await app.call('POST', `${path}/flags/old/archive`);
    const archived = await schedule(path, [{ key: 'old', state: on }]);
    expect([archived.status, archived.json.error]).toEqual([409, 'flag_archived']);
    const moon = await schedule(path, [{ key: 'a', state: on }], { environment: 'moon' });
    expect(moon.json.error).toBe('environment_not_found');
  });

  test('lists pending schedules by due time, then settled ones, with filters', async () => {
    const { path } = await app.project();
    const at = (hours: number) => ({ dueAt: new Date(app.node.now + hours * HOUR_MS).toISOString() });
    const ids: string[] = [];
    for (const hours of [9, 5, 7]) {
      const environment = hours === 7 ? 'staging' : 'production';
      const made = await schedule(path, [{ key: 'a', state: on }], { ...at(hours), environment });
      ids.push(made.json.id);
    }
    const [nine = '', five = '', seven = ''] = ids;
    await app.call('DELETE', `${path}/schedules/${five}`);
    const listed = async (query = '') =>
      (await app.call('GET', `${path}/schedules${query}`)).json.schedules.map(
        (one: { id: string }) => one.id,
      );
    expect(await listed()).toEqual([seven, nine, five]);
    expect(await listed('?status=cancelled')).toEqual([five]);
    expect(await listed('?status=pending&environment=staging')).toEqual([seven]);
    expect(await listed('?environment=production')).toEqual([nine, five]);
    expect((await app.call('GET', `${path}/schedules?status=late`)).json.error).toBe('invalid_argument');
    await app.call('DELETE', path);
  });

  test('a new schedule removes the oldest settled ones of its environment', async () => {
    const { path } = await app.project();
    const change = [{ key: 'a', state: on }];
    const ids: string[] = [];
    for (const environment of ['staging', 'production', 'production']) {
      const { json } = await schedule(path, change, { environment });
      ids.push(json.id);
      await app.call('DELETE', `${path}/schedules/${json.id}`);
      app.node.now += 1;
    }
    const [elsewhere = '', oldest = '', second = ''] = ids;
    const { store } = app.home;
    const made = await readSchedule(store, second);
    if (made === undefined) throw new Error('the schedule was canceled, not removed');
    await store.commit(SYSTEM, async (tx) => {
      for (let count = 1; count < KEPT_SCHEDULES; count++) {
        const next = { ...made, id: `${second}-${count}`, status: 'pending' } as const;
        await insertSchedule(tx, next);
        await settleSchedule(tx, next, { status: 'cancelled', at: app.node.now });
      }
    });
    const isKept = async (id: string) => (await readSchedule(store, id)) !== undefined;
    const kept = async () => [await isKept(elsewhere), await isKept(oldest), await isKept(second)];
    expect(await kept()).toEqual([true, true, true]);
    await schedule(path, change);
    expect(await kept()).toEqual([true, false, true]);
    await app.call('DELETE', path);
  });

  test('a deleted environment cancels its schedules, and a later one of its name is not changed by them', async () => {
    const made = await scheduled([{ key: 'a', state: on }]);
    await app.call('DELETE', `${made.path}/environments/production`);
    expect(await recordOf(made)).toMatchObject({
      status: 'cancelled',
      error: expect.stringContaining('deleted'),
    });
    await app.call('POST', `${made.path}/environments`, { body: { name: 'production' } });
    pass();
    expect((await runDueSchedules(app.context)).settled).toEqual([]);
    expect((await flagsOf(made.path)).flags).toEqual([]);
  });

  test('deleting a project deletes its schedules', async () => {
    const made = await scheduled([{ key: 'a', state: on }]);
    await app.call('DELETE', made.path);
    pass();
    expect((await runDueSchedules(app.context)).settled).toEqual([]);
  });
});
