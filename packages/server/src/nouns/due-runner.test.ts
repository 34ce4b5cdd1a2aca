import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { HOUR_MS } from '../domain/clock.ts';
import { openTestApp, type TestApp } from '../management/api/test-app.ts';
import type { ManagementContext } from '../management/context.ts';
import { SqlStore } from '../storage/store.ts';
import { ENGINES, type TestEngine } from '../storage/test-engines.ts';
import { DUE_ATTEMPTS } from './due-runner.ts';
import { runDueSchedules } from './schedules/schedule-runner.ts';
import { scheduleTests } from './schedules/test-schedules.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('due schedules on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const { scheduled, schedule, pass, recordOf, flagsOf } = scheduleTests(() => app);
  const on = { enabled: true };

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

  test('a note that is too long is not cut inside a character', async () => {
    const made = await scheduled([{ key: 'a', state: on }], { note: '\u{1F680}'.repeat(500) });
    const odd = await scheduled([{ key: 'a', state: on }], { note: `.${'\u{1F680}'.repeat(499)}` });
    pass();
    expect((await runDueSchedules(app.context)).settled).toEqual([
      { id: made.id, status: 'done' },
      { id: odd.id, status: 'done' },
    ]);
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
    expect(first.nextDueAt).toBe(app.node.now + DUE_ATTEMPTS.pauseMs);
    expect((await runDueSchedules(app.context, attempts)).errors).toEqual([]);
    for (let attempt = 2; attempt <= DUE_ATTEMPTS.most; attempt++) {
      app.node.now += DUE_ATTEMPTS.pauseMs * 2 ** (attempt - 2);
      const run = await runDueSchedules(app.context, attempts);
      expect(run.errors).toHaveLength(1);
      expect(run.settled).toEqual(attempt < DUE_ATTEMPTS.most ? [] : [{ id: damaged, status: 'failed' }]);
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
