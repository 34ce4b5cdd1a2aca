import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { SqlStore } from '../../storage/store.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { runDueRollouts } from './rollout-runner.ts';
import { FLAG, HOURLY, ON_AT, planTests, type Started } from './test-plans.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('interruptions of rollout plans on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const { projectWithFlag, start, started, command, planOf, stateOf, audit, pass, inMinutes } = planTests(
    () => app,
  );

  const production = 'environments/production';
  const stateUrl = (path: string) => `${path}/${production}/flags/${FLAG}`;

  /** Ways to change the flag by hand. */
  const CHANGES: readonly [string, (made: Started) => Promise<unknown>][] = [
    ['a switch', ({ path }) => app.call('PATCH', stateUrl(path), { body: { enabled: false } })],
    ['a new value', ({ path }) => app.call('PATCH', stateUrl(path), { body: { value: 'v3' } })],
    [
      'a change of several flags',
      ({ path }) =>
        app.call('POST', `${path}/${production}/changes`, {
          body: { changes: [{ key: FLAG, state: ON_AT(60) }] },
        }),
    ],
    [
      'a copy',
      async ({ path }) => {
        await app.call('PUT', `${path}/environments/staging/flags/${FLAG}`, { body: { enabled: false } });
        await app.call('POST', `${path}/${production}/copy`, { body: { from: 'staging' } });
      },
    ],
    ['a revert', ({ plan }) => app.call('POST', `/api/changes/${plan.seq}/revert`, { body: {} })],
  ];

  test.each(CHANGES)(
    '%s by hand pauses the plan in the same change, and is not overwritten',
    async (_, change) => {
      const made = await started();
      const before = await stateOf(made);
      await change(made);
      const byHand = await stateOf(made);
      expect(byHand).not.toEqual(before);
      const reason = 'The flag was changed outside the plan.';
      expect(await planOf(made)).toMatchObject({ status: 'paused', reason, statusBy: 'token:admin' });
      const [entry] = await audit(made, 'rollout.paused');
      expect(entry).toMatchObject({ target: FLAG, after: { id: made.id, reason } });
      expect((await app.call('GET', `/api/changes/${entry.seq}`)).json.entries).toMatchObject(
        expect.arrayContaining([expect.objectContaining({ action: 'flag.changed' })]),
      );
      pass(600);
      expect((await runDueRollouts(app.context)).settled).toEqual([]);
      expect(await stateOf(made)).toEqual(byHand);
    },
  );

  test('a late failure of a step leaves a plan alone that another person has resumed', async () => {
    const { token, id: tokenId } = (
      await app.call('POST', '/api/tokens', { body: { name: `starter-${Date.now()}`, role: 'admin' } })
    ).json;
    const made = await started(HOURLY, {}, { token });
    await app.call('DELETE', `/api/tokens/${tokenId}`);
    pass(60);
    let commits = 0;
    app.node.beforeCommit = async () => {
      commits++;
      if (commits !== 2) return;
      // The step was refused, and the runner is about to pause the plan.
      app.node.beforeCommit = async () => {};
      for (const name of ['pause', 'resume']) expect((await command(made, name)).status).toBe(200);
    };
    expect((await runDueRollouts(app.context)).settled).toEqual([]);
    app.node.beforeCommit = async () => {};
    expect(commits).toBe(2);
    expect(await planOf(made)).toMatchObject({ status: 'running', runsAs: 'token:admin' });
    await command(made, 'stop');
  });

  test('a change by hand that meets a due step is never lost, and pauses the plan', async () => {
    const other = { ...app.context, store: new SqlStore(await app.home.connect()) };
    for (const body of [{ enabled: false }, { enabled: true, rolloutPct: 3 }]) {
      const made = await started();
      pass(60);
      const [written] = await Promise.all([
        app.call('PUT', stateUrl(made.path), { body }),
        runDueRollouts(other),
        runDueRollouts(app.context),
      ]);
      expect([written.status, await stateOf(made)]).toEqual([200, body]);
      expect((await planOf(made)).status).toBe('paused');
    }
  });

  test('a write that changes nothing, of another flag or elsewhere does not pause the plan', async () => {
    const made = await started();
    await app.call('PUT', stateUrl(made.path), { body: ON_AT(5) });
    await app.call('PUT', `${made.path}/${production}/flags/other`, { body: { enabled: true } });
    await app.call('PUT', `${made.path}/environments/staging/flags/${FLAG}`, { body: { enabled: true } });
    expect((await planOf(made)).status).toBe('running');
    await command(made, 'stop');
  });

  test('a resumed plan skips steps that are not above the rollout, and is refused without a step left', async () => {
    const made = await started();
    await app.call('PATCH', stateUrl(made.path), { body: { rolloutPct: 40 } });
    const resumed = await command(made, 'resume');
    expect(resumed.json.steps).toMatchObject([{ status: 'done' }, { status: 'skipped' }, { status: 'next' }]);
    expect(resumed.json.dueAt).toBe(inMinutes(60));
    await app.call('PATCH', stateUrl(made.path), { body: { unset: ['rolloutPct'] } });
    const refused = await command(made, 'resume');
    expect([refused.status, refused.json.message]).toEqual([
      400,
      'The flag is on for 100 %, and no step is left above that: stop the plan.',
    ]);
    expect((await planOf(made)).status).toBe('paused');
  });

  test('a plan is not fooled by a node that does not know of plans', async () => {
    const made = await started();
    await app.home.database.transaction((transaction) =>
      transaction.query(
        'UPDATE flag_states SET revision = revision + 1 WHERE environment_id IN (SELECT environment_id FROM rollout_plans WHERE id = $1)',
        [made.id],
      ),
    );
    pass(60);
    expect((await runDueRollouts(app.context)).settled).toEqual([{ id: made.id, status: 'paused' }]);
    expect(await planOf(made)).toMatchObject({
      statusBy: 'system',
      reason: 'The flag was changed outside the plan.',
    });
  });

  /** Ways to remove what a plan needs, with the reason of its end. */
  const REMOVALS: readonly [string, string, (path: string) => Promise<unknown>][] = [
    [
      'archived',
      'The flag "checkout" was archived.',
      (path) => app.call('POST', `${path}/flags/${FLAG}/archive`),
    ],
    [
      'removed',
      'The flag "checkout" was removed from production.',
      (path) => app.call('DELETE', stateUrl(path)),
    ],
    [
      ...(['without its environment', 'The environment "production" was deleted.'] as const),
      (path) => app.call('DELETE', `${path}/${production}`),
    ],
  ];

  test.each(REMOVALS)(
    'the plan of a flag that was %s is stopped with the reason',
    async (_, reason, remove) => {
      const made = await started();
      await remove(made.path);
      expect(await planOf(made)).toMatchObject({ status: 'stopped', reason });
      pass(600);
      expect((await runDueRollouts(app.context)).settled).toEqual([]);
      const listed = await app.call('GET', `${made.path}/rollouts?status=stopped`);
      expect(listed.json.rollouts).toMatchObject([{ id: made.id, reason }]);
    },
  );

  test('an import that archives a flag stops its plans, also where the flag has no state', async () => {
    const project = await projectWithFlag();
    const steps = [{ rolloutPct: 5, waitMinutes: 60 }, ...HOURLY.slice(1)];
    const ids: string[] = [];
    for (const environment of ['staging', 'production']) {
      const { json, text } = await start(project.path, steps, { environment });
      expect(text).toContain('"status":"running"');
      ids.push(json.id);
    }
    const { json: document } = await app.call('GET', `${project.path}/export`);
    const body = { ...document, flags: {} };
    const { json } = await app.call('POST', '/api/import?policy=enforce&prune=true', { body });
    expect(json.flagsArchived).toEqual([FLAG]);
    const stopped = { status: 'stopped', reason: 'The flag "checkout" was archived.' };
    for (const id of ids) expect(await planOf({ ...project, id })).toMatchObject(stopped);
  });

  test('a deleted project takes its plans along', async () => {
    const made = await started();
    await app.call('DELETE', made.path);
    pass(600);
    expect(await runDueRollouts(app.context)).toEqual({ settled: [], errors: [] });
  });

  test('a damaged plan is paused in the end, and can be listed and stopped', async () => {
    const made = await started();
    await app.home.database.transaction((transaction) =>
      transaction.query(`UPDATE rollout_plans SET steps = 'nonsense' WHERE id = $1`, [made.id]),
    );
    const attempts = new Map();
    for (let attempt = 1; attempt <= 5; attempt++) {
      pass(60);
      expect((await runDueRollouts(app.context, attempts)).errors).toHaveLength(1);
    }
    expect(await planOf(made)).toMatchObject({ status: 'paused', steps: [] });
    expect((await command(made, 'stop')).json.status).toBe('stopped');
  });
});
