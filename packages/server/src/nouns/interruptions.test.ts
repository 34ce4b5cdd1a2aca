import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../storage/test-engines.ts';
import { FLAG, planTests } from './rollouts/test-plans.ts';
import { scheduleTests } from './schedules/test-schedules.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('what ends schedules and plans on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const plans = planTests(() => app);
  const schedules = scheduleTests(() => app);

  const archived = `The flag "${FLAG}" was archived.`;
  const removed = `The flag "${FLAG}" was removed from production.`;
  const stateIn = (path: string) => `${path}/environments/production/flags/${FLAG}`;

  /** Ways to remove what a schedule and a plan change, with the reason that people read. */
  const REMOVALS: readonly [string, string, (path: string) => Promise<unknown>][] = [
    ['archiving the flag', archived, (path) => app.call('POST', `${path}/flags/${FLAG}/archive`)],
    [
      'deleting the flag while it is in use',
      `The flag "${FLAG}" was deleted.`,
      (path) => app.call('DELETE', `${path}/flags/${FLAG}?archive=true`),
    ],
    [
      'deleting the environment',
      'The environment "production" was deleted.',
      (path) => app.call('DELETE', `${path}/environments/production`),
    ],
    ['removing the state', removed, (path) => app.call('DELETE', stateIn(path))],
    [
      'a change that removes the state',
      removed,
      (path) =>
        app.call('POST', `${path}/environments/production/changes`, {
          body: { changes: [{ key: FLAG, state: null }] },
        }),
    ],
    [
      'a change that removes several states',
      'A flag that it changes was removed from production.',
      async (path) => {
        await app.call('PUT', `${path}/environments/production/flags/other`, { body: { enabled: true } });
        const changes = [FLAG, 'other'].map((key) => ({ key, state: null }));
        await app.call('POST', `${path}/environments/production/changes`, { body: { changes } });
      },
    ],
    [
      'a copy that removes the state',
      removed,
      (path) =>
        app.call('POST', `${path}/environments/production/copy`, {
          body: { from: 'development', deletes: true },
        }),
    ],
    [
      'an import that archives the flag',
      archived,
      async (path) => {
        const { json: document } = await app.call('GET', `${path}/export`);
        const body = { ...document, flags: {} };
        await app.call('POST', '/api/import?policy=enforce&prune=true', { body });
      },
    ],
  ];

  test.each(REMOVALS)('%s ends both with one reason', async (_, reason, remove) => {
    const { name, path } = await plans.projectWithFlag();
    const { id } = (await plans.start(path)).json;
    const change = [{ key: FLAG, patch: { enabled: false } }];
    const schedule = { path, id: (await schedules.schedule(path, change, { anyway: true })).json.id };
    await remove(path);
    expect(await schedules.recordOf(schedule)).toMatchObject({ status: 'cancelled', error: reason });
    // A deleted flag takes its plans along; the audit log keeps why they ended.
    expect(await plans.audit({ name }, 'rollout.stopped')).toMatchObject([{ after: { id, reason } }]);
  });

  test('the revert of a restore ends both as archiving does', async () => {
    const { path } = await plans.projectWithFlag();
    await app.call('POST', `${path}/flags/${FLAG}/archive`);
    const { seq } = (await app.call('POST', `${path}/flags/${FLAG}/restore`)).json;
    const change = [{ key: FLAG, patch: { enabled: false } }];
    const schedule = { path, id: (await schedules.schedule(path, change)).json.id };
    const reverted = await app.call('POST', `/api/changes/${seq}/revert`, { body: {} });
    expect(reverted.status).toBe(200);
    expect(await schedules.recordOf(schedule)).toMatchObject({ status: 'cancelled', error: archived });
  });
});
