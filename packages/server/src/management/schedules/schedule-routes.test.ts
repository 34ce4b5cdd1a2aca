import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SqlStore } from '../../storage/store.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { openTestApp, type TestApp, type TestRequest } from '../api/test-app.ts';
import type { ManagementContext } from '../context.ts';
import { SCHEDULE_ATTEMPTS } from './due-records.ts';
import { runDueSchedules } from './schedule-runner.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('schedules on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const HOUR_MS = 3_600_000;
  const on = { enabled: true };

  /** A project with a schedule that is due an hour from now by the node's clock, then an hour passes. */
  async function scheduled(changes: object[], more: object = {}, request: TestRequest = {}) {
    const { name, path } = await app.project();
    const made = await schedule(path, changes, more, request);
    expect([made.status, made.json.status]).toEqual([201, 'pending']);
    return { name, path, id: made.json.id as string, record: made.json };
  }

  /** Schedules changes of flags, and creates missing flags. */
  async function schedule(
    path: string,
    changes: readonly object[],
    more: object = {},
    request: TestRequest = {},
  ) {
    for (const change of changes) {
      if ('key' in change) await app.call('POST', `${path}/flags`, { body: { key: change.key } });
    }
    const dueAt = new Date(app.node.now + HOUR_MS).toISOString();
    const body = { environment: 'production', dueAt, changes, ...more };
    return app.call('POST', `${path}/schedules`, { body, ...request });
  }

  const pass = () => {
    app.node.now += HOUR_MS;
  };

  async function recordOf({ path, id }: { readonly path: string; readonly id: string }) {
    const { schedules } = (await app.call('GET', `${path}/schedules`)).json;
    return schedules.find((one: { id: string }) => one.id === id);
  }

  const flagsOf = async (path: string) =>
    (await app.call('GET', `${path}/environments/production/flags`)).json;

  test('a scheduled change runs once, when it is due and not before, as one revision', async () => {
    const made = await scheduled(
      [
        { key: 'a', state: on },
        { key: 'b', patch: { rolloutPct: 5 } },
      ],
      { note: 'launch' },
    );
    expect(made.record).toMatchObject({
      ...{ environment: 'production', note: 'launch', createdBy: 'token:admin' },
      changes: [
        { key: 'a', state: on },
        { key: 'b', patch: { rolloutPct: 5 } },
      ],
    });
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
      ...{ actor: 'token:admin', note: `Schedule ${made.id}: launch`, revision: 1, revertible: true },
    });
    expect(change.json.entries.map((one: { action: string }) => one.action)).toEqual([
      ...['schedule.applied', 'flag.changed', 'flag.changed'],
    ]);
    const undone = await app.call('POST', `/api/changes/${record.seq}/revert`, { body: {} });
    expect(undone.status).toBe(200);
    expect((await flagsOf(made.path)).flags).toEqual([]);
  });

  test('of three nodes that find a schedule due at once, exactly one runs it', async () => {
    const nodes: ManagementContext[] = [];
    for (let count = 0; count < 3; count++) {
      nodes.push({ ...app.context, store: new SqlStore(await app.home.connect()) });
    }
    const { path } = await app.project();
    for (const key of ['a', 'b', 'c', 'd']) await schedule(path, [{ key, state: on }]);
    pass();
    const runs = await Promise.all(nodes.map((node) => runDueSchedules(node)));
    const settled = runs.flatMap((run) => run.settled);
    expect(settled.map(({ status }) => status)).toEqual(['done', 'done', 'done', 'done']);
    expect(new Set(settled.map(({ id }) => id)).size).toBe(4);
    expect(await flagsOf(path)).toMatchObject({ revision: 4, flags: [{}, {}, {}, {}] });
  });

  test('a schedule that was due while no node ran runs late, once', async () => {
    const made = await scheduled([{ key: 'a', state: on }]);
    for (let days = 0; days < 3; days++) app.node.now += 24 * HOUR_MS;
    const restarted = { ...app.context, store: new SqlStore(await app.home.connect()) };
    expect((await runDueSchedules(restarted)).settled).toEqual([{ id: made.id, status: 'done' }]);
    expect((await runDueSchedules(app.context)).settled).toEqual([]);
    expect(await flagsOf(made.path)).toMatchObject({ revision: 1 });
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

  test('a note that is too long is not cut inside a character', async () => {
    const made = await scheduled([{ key: 'a', state: on }], { note: '\u{1F680}'.repeat(500) });
    const odd = await scheduled([{ key: 'a', state: on }], { note: `.${'\u{1F680}'.repeat(499)}` });
    pass();
    expect((await runDueSchedules(app.context)).settled).toEqual([
      { id: made.id, status: 'done' },
      { id: odd.id, status: 'done' },
    ]);
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

  test('a failed schedule has a reason, and changes nothing', async () => {
    const { json } = await app.call('POST', '/api/tokens', {
      body: { name: 'gone', role: 'editor', canChangeProtected: true },
    });
    const failing = await scheduled([{ key: 'a', state: on }], {}, { token: json.token });
    await app.call('DELETE', `/api/tokens/${json.id}`);
    pass();
    expect((await runDueSchedules(app.context)).settled).toEqual([{ id: failing.id, status: 'failed' }]);
    expect(await recordOf(failing)).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('token:gone'),
    });
    expect(await flagsOf(failing.path)).toMatchObject({ revision: 0, flags: [] });
    const audit = await app.call('GET', `/api/audit?project=${failing.name}&action=schedule`);
    expect(audit.json.entries.map((one: { action: string }) => one.action)).toEqual([
      'schedule.failed',
      'schedule.created',
    ]);
    const cancelled = await app.call('DELETE', `${failing.path}/schedules/${failing.id}`);
    expect([cancelled.status, cancelled.json.error]).toEqual([409, 'not_revertible']);
    expect(cancelled.json.message).toEndWith('so it cannot be canceled: it failed, and nothing was changed.');
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

  /** Replaces the changes of a schedule with invalid JSON, which throws when it is read. */
  function damage(condition: string, id: string): Promise<unknown> {
    return app.home.database.transaction((transaction) =>
      transaction.query(
        `UPDATE scheduled_changes SET changes = $2 WHERE status = 'pending' AND ${condition}`,
        [...[id, '[{"key":nonsense}]']],
      ),
    );
  }

  test('a schedule with an unexpected error is retried a few times and fails; others do not wait', async () => {
    const { path } = await app.project();
    const damaged = (await schedule(path, [{ key: 'a', state: on }])).json.id;
    const fine = (await schedule(path, [{ key: 'b', state: on }])).json.id;
    await damage('id = $1', damaged);
    pass();
    const attempts = new Map();
    const first = await runDueSchedules(app.context, attempts);
    expect(first.settled).toEqual([{ id: fine, status: 'done' }]);
    expect(first.errors).toMatchObject([{ id: damaged }]);
    expect(first.nextDueAt).toBe(app.node.now + SCHEDULE_ATTEMPTS.pauseMs);
    expect((await runDueSchedules(app.context, attempts)).errors).toEqual([]);
    for (let attempt = 2; attempt <= SCHEDULE_ATTEMPTS.most; attempt++) {
      app.node.now += SCHEDULE_ATTEMPTS.pauseMs * 2 ** (attempt - 2);
      const run = await runDueSchedules(app.context, attempts);
      expect(run.errors).toHaveLength(1);
      expect(run.settled).toEqual(
        attempt < SCHEDULE_ATTEMPTS.most ? [] : [{ id: damaged, status: 'failed' }],
      );
    }
    expect(attempts.size).toBe(0);
    expect(await runDueSchedules(app.context, attempts)).toEqual({ settled: [], errors: [] });
  });

  test('more broken schedules than one read holds do not hide the next one', async () => {
    const { path } = await app.project();
    for (let count = 0; count < 45; count++) await schedule(path, [{ key: 'a', state: on }]);
    const fine = (await schedule(path, [{ key: 'b', state: on }])).json.id;
    await damage('id <> $1', fine);
    pass();
    const run = await runDueSchedules(app.context);
    expect([run.settled, run.errors.length]).toEqual([[{ id: fine, status: 'done' }], 45]);
    await app.call('DELETE', path);
  });

  test('a schedule runs with the current permissions of its creator', async () => {
    const token = async (name: string) => {
      const body = { name, role: 'editor', canChangeProtected: true };
      return (await app.call('POST', '/api/tokens', { body })).json;
    };
    const [kept, revoked] = [await token('kept'), await token('revoked')];
    const fine = await scheduled([{ key: 'a', state: on }], {}, { token: kept.token });
    const orphan = await scheduled([{ key: 'a', state: on }], {}, { token: revoked.token });
    expect(orphan.record.createdBy).toBe('token:revoked');
    await app.call('DELETE', `/api/tokens/${revoked.id}`);
    app.node.now += 1;
    // A new token with the same name does not replace the revoked one.
    await token('revoked');
    pass();
    const { settled } = await runDueSchedules(app.context);
    expect(settled).toEqual([
      { id: fine.id, status: 'done' },
      { id: orphan.id, status: 'failed' },
    ]);
    expect((await recordOf(orphan)).error).toContain('token:revoked');
    expect(await flagsOf(orphan.path)).toMatchObject({ revision: 0 });
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

  test('an unreachable store leaves due schedules pending', async () => {
    const made = await scheduled([{ key: 'a', state: on }]);
    pass();
    app.node.isLost = true;
    await expect(runDueSchedules(app.context)).rejects.toThrow('lost');
    app.node.isLost = false;
    expect(await recordOf(made)).toMatchObject({ status: 'pending' });
    expect((await runDueSchedules(app.context)).settled).toEqual([{ id: made.id, status: 'done' }]);
  });
});
