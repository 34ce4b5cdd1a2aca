import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { SqlStore } from '../../storage/store.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { runDueRollouts } from './rollout-runner.ts';
import { KEPT_PLANS } from './rollout-table.ts';
import { FLAG, HOURLY, ON_AT, planTests, type Started } from './test-plans.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('rollout plans on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const { projectWithFlag, start, started, command, planOf, stateOf, audit, pass, inMinutes } = planTests(
    () => app,
  );

  test('each step runs after its wait, once and not before, and the last one reaches everyone', async () => {
    const made = await started(HOURLY, { note: 'launch' });
    expect(made.plan).toMatchObject({
      flag: FLAG,
      environment: 'production',
      status: 'running',
      fromPct: 0,
      note: 'launch',
      createdBy: 'token:admin',
      runsAs: 'token:admin',
      dueAt: inMinutes(60),
      steps: [
        { rolloutPct: 5, status: 'done', ranAt: inMinutes(0) },
        { rolloutPct: 25, waitMinutes: 60, status: 'next', expectedAt: inMinutes(60) },
        { rolloutPct: 100, waitMinutes: 60, status: 'waiting', expectedAt: inMinutes(120) },
      ],
    });
    expect(await stateOf(made)).toEqual(ON_AT(5));

    pass(59);
    const dueAt = Date.parse(made.plan.dueAt);
    expect(await runDueRollouts(app.context)).toEqual({ settled: [], errors: [], nextDueAt: dueAt });

    pass(3);
    expect((await runDueRollouts(app.context)).settled).toEqual([{ id: made.id, status: 'running' }]);
    expect(await stateOf(made)).toEqual(ON_AT(25));
    // A late step moves the ones after it.
    expect(await planOf(made)).toMatchObject({ status: 'running', dueAt: inMinutes(60) });

    pass(60);
    expect((await runDueRollouts(app.context)).settled).toEqual([{ id: made.id, status: 'done' }]);
    expect(await stateOf(made)).toEqual({ enabled: true, value: 'v2' });
    const done = await planOf(made);
    expect([done.status, done.dueAt]).toEqual(['done', undefined]);
    expect(await runDueRollouts(app.context)).toEqual({ settled: [], errors: [] });

    const entries = await audit(made, 'rollout');
    expect(entries).toMatchObject([
      { target: FLAG, after: { id: made.id, step: 3, of: 3, from: 25, to: 100, startedBy: 'token:admin' } },
      { note: 'Rollout plan: launch', after: { step: 2, from: 5, to: 25 } },
      { action: 'rollout.advanced', note: 'launch', after: { step: 1, from: 0, to: 5 } },
      { action: 'rollout.started', note: 'launch' },
    ]);
    expect(entries.at(-1).after).toEqual({ id: made.id, from: 0, steps: HOURLY });

    const change = (await app.call('GET', `/api/changes/${entries[0].seq}`)).json;
    expect(change).toMatchObject({ actor: 'token:admin', revertible: true });
  });

  test('of three nodes that find a step due, exactly one runs it, also after a restart of all', async () => {
    const made = await started();
    pass(24 * 60);
    const stores = await Promise.all([1, 2, 3].map(async () => new SqlStore(await app.home.connect())));
    const runs = await Promise.all(stores.map((store) => runDueRollouts({ ...app.context, store })));
    expect(runs.flatMap(({ settled }) => settled)).toEqual([{ id: made.id, status: 'running' }]);
    expect(runs.flatMap(({ errors }) => errors)).toEqual([]);
    expect(await stateOf(made)).toEqual(ON_AT(25));
    expect(await audit(made, 'rollout.advanced')).toHaveLength(2);
    await command(made, 'stop');
  });

  test('a step at a time runs then; a plan whose times passed pauses instead of running two steps at once', async () => {
    const times = [
      { rolloutPct: 10, at: inMinutes(30) },
      { rolloutPct: 20, at: inMinutes(60) },
      { rolloutPct: 30, at: inMinutes(90) },
    ];
    const made = await started(times);
    expect(made.plan).toMatchObject({ dueAt: inMinutes(30), steps: [{ status: 'next' }, {}, {}] });
    expect(await stateOf(made)).toMatchObject({ enabled: false });
    pass(30);
    await runDueRollouts(app.context);
    expect(await planOf(made)).toMatchObject({ status: 'running', dueAt: inMinutes(30) });
    pass(240);
    expect((await runDueRollouts(app.context)).settled).toEqual([{ id: made.id, status: 'paused' }]);
    expect(await stateOf(made)).toEqual(ON_AT(20));
    expect(await planOf(made)).toMatchObject({
      status: 'paused',
      statusBy: 'system',
      reason: 'The time of step 3 passed before step 2 ran.',
    });
    expect((await command(made, 'resume')).json).toMatchObject({ status: 'running', dueAt: inMinutes(0) });
    expect((await runDueRollouts(app.context)).settled).toEqual([{ id: made.id, status: 'done' }]);
  });

  test('a paused plan waits; resuming begins the whole wait again; advancing and stopping act at once', async () => {
    const made = await started();
    pass(50);
    const paused = await command(made, 'pause', { headers: { 'X-Change-Note': 'errors rise' } });
    expect(paused.json).toMatchObject({ status: 'paused', reason: 'errors rise', statusBy: 'token:admin' });
    expect([paused.json.dueAt, paused.json.steps[1].expectedAt]).toEqual([undefined, undefined]);
    const [entry] = await audit(made, 'rollout.paused');
    expect([entry.note, entry.after]).toEqual(['errors rise', { id: made.id }]);
    expect((await command(made, 'pause')).json).toMatchObject({ status: 'paused', reason: 'errors rise' });
    pass(500);
    expect((await runDueRollouts(app.context)).settled).toEqual([]);
    const resumed = await command(made, 'resume');
    expect(resumed.json).toMatchObject({ status: 'running', dueAt: inMinutes(60) });
    expect(resumed.json.reason).toBeUndefined();
    pass(1);
    const advanced = await command(made, 'advance');
    expect(advanced.json).toMatchObject({
      status: 'running',
      dueAt: inMinutes(60),
      steps: [{}, { status: 'done' }, {}],
    });
    expect(await stateOf(made)).toEqual(ON_AT(25));
    const stopped = await command(made, 'stop');
    expect(stopped.json).toMatchObject({ status: 'stopped', steps: [{}, {}, { status: 'skipped' }] });
    expect((await command(made, 'stop')).json).toMatchObject({ status: 'stopped' });
    pass(500);
    expect((await runDueRollouts(app.context)).settled).toEqual([]);
    expect(await stateOf(made)).toEqual(ON_AT(25));
    for (const name of ['pause', 'resume', 'advance']) {
      const { status, json } = await command(made, name);
      expect([status, json.error]).toEqual([409, 'not_revertible']);
      expect(json.message).toBe('The rollout plan has ended (stopped): start a new one.');
    }
    const foreign = await command({ ...(await app.project()), id: made.id }, 'stop');
    expect([foreign.status, foreign.json.error]).toEqual([404, 'not_found']);
  });

  const production = 'environments/production';
  const stateUrl = (path: string) => `${path}/${production}/flags/${FLAG}`;

  test('a step needs the permissions of who started the plan, and another person can resume it', async () => {
    const { json: token } = await app.call('POST', '/api/tokens', {
      body: { name: `ci-${engine.name}`, role: 'editor', canChangeProtected: false },
    });
    const project = await projectWithFlag();
    await app.call('PATCH', `${project.path}/${production}`, { body: { protected: false } });
    const { json: plan } = await start(project.path, HOURLY, {}, { token: token.token });
    const made = { ...project, plan, id: plan.id };
    await app.call('PATCH', `${made.path}/${production}`, { body: { protected: true } });
    pass(60);
    await runDueRollouts(app.context);
    expect(await planOf(made)).toMatchObject({
      status: 'paused',
      statusBy: 'system',
      reason: `"token:ci-${engine.name}", who started or resumed the plan, may no longer change production.`,
    });
    await app.call('PATCH', `${made.path}/${production}`, { body: { protected: false } });
    await command(made, 'resume', { token: token.token });
    await app.call('DELETE', `/api/tokens/${token.id}`);
    pass(60);
    await runDueRollouts(app.context);
    expect(await planOf(made)).toMatchObject({
      status: 'paused',
      reason: expect.stringContaining('token:ci-'),
    });
    expect(await stateOf(made)).toEqual(ON_AT(5));
    expect((await command(made, 'resume')).json).toMatchObject({ status: 'running', runsAs: 'token:admin' });
    pass(60);
    await runDueRollouts(app.context);
    expect(await stateOf(made)).toEqual(ON_AT(25));
    expect((await audit(made, 'rollout.advanced'))[0]).toMatchObject({ actor: 'token:admin' });
  });

  /** Plans that are refused, with the reason. The flag is on for 4 %. */
  const REFUSALS: readonly [object[], string][] = [
    [
      [{ rolloutPct: 50 }],
      'The plan has 1 step: a plan has 2 to 20. For one change, set the rollout or schedule it.',
    ],
    [
      Array.from({ length: 21 }, (_, index) => ({ rolloutPct: 5 + index, waitMinutes: 1 })),
      'The plan has 21 steps: a plan has 2 to 20.',
    ],
    [
      [{ rolloutPct: 4 }, { rolloutPct: 9, waitMinutes: 5 }],
      'Step 1 (4 %) must be higher than the 4 % that the flag is on for now.',
    ],
    [
      [{ rolloutPct: 9 }, { rolloutPct: 9, waitMinutes: 5 }],
      'Step 2 (9 %) must be higher than the 9 % of step 1.',
    ],
    [
      [{ rolloutPct: 9 }, { rolloutPct: 101, waitMinutes: 5 }],
      'Step 2 must be a percentage above 0, at most 100, with at most three decimals.',
    ],
    [[{ rolloutPct: 9 }, { rolloutPct: 10 }], 'Step 2 needs a wait or a time.'],
    [
      [{ rolloutPct: 9 }, { rolloutPct: 10, waitMinutes: 0 }],
      'The wait before step 2 must be 1 minute to 90 days, in whole minutes.',
    ],
    [
      [{ rolloutPct: 9 }, { rolloutPct: 10, waitMinutes: 129_601 }],
      'The wait before step 2 must be 1 minute to 90 days, in whole minutes.',
    ],
    [
      [{ rolloutPct: 9 }, { rolloutPct: 10, waitMinutes: 9, at: '2127-01-31T12:00:00Z' }],
      'Step 2 has a wait and a time: give one of them.',
    ],
    [
      [
        { rolloutPct: 9, waitMinutes: 9 },
        { rolloutPct: 10, at: '2020-01-31T12:00:00Z' },
      ],
      'The time of step 2 must be 1 minute to 90 days after step 1.',
    ],
  ];

  test('a plan that cannot work is refused with the reason, and so is a second one', async () => {
    const { path } = await projectWithFlag();
    await app.call('PUT', stateUrl(path), { body: ON_AT(4) });
    for (const [steps, message] of REFUSALS) {
      const { status, json } = await start(path, steps);
      expect([status, json.error, json.message]).toEqual([400, 'invalid_argument', message]);
    }
    await app.call('PUT', stateUrl(path), { body: { enabled: true } });
    expect((await start(path)).json.message).toBe(
      'The flag is already on for everyone: turn it off, or set a lower rollout first.',
    );
    await app.call('PUT', stateUrl(path), { body: { enabled: false } });
    for (const [more, error] of [
      [{ flag: 'tyypo' }, 'flag_not_found'],
      [{ environment: 'nowhere' }, 'environment_not_found'],
      [{ color: 'red' }, 'invalid_argument'],
      [{ steps: [{ rolloutPct: 5, percent: 5 }, HOURLY[1]] }, 'invalid_argument'],
    ] as const) {
      expect((await start(path, HOURLY, more)).json.error).toBe(error);
    }
    const { json: viewer } = await app.call('POST', '/api/tokens', { body: { name: path, role: 'viewer' } });
    expect((await start(path, HOURLY, {}, { token: viewer.token })).json.error).toBe('forbidden');
    expect((await start(path)).status).toBe(201);
    const second = await start(path);
    expect([second.status, second.json.error, second.json.message]).toEqual([
      ...[
        409,
        'already_exists',
        'The flag "checkout" already has a rollout plan in production: stop that one first.',
      ],
    ]);
    expect((await start(path, HOURLY, { environment: 'staging' })).status).toBe(201);
    const open = await app.call('GET', `${path}/rollouts?status=open&flag=${FLAG}`);
    expect(open.json.rollouts).toHaveLength(2);
  });

  test('a new plan removes the oldest ended ones of its flag and environment, and a deleted flag all of its plans', async () => {
    const { path } = await projectWithFlag();
    const later = HOURLY.map((step) => ({ ...step, waitMinutes: 60 }));
    const ended: string[] = [];
    for (const environment of ['staging', ...Array.from({ length: KEPT_PLANS + 2 }, () => 'production')]) {
      const { json } = await start(path, later, { environment });
      await command({ path, id: json.id }, 'stop');
      pass(1);
      ended.push(json.id);
    }
    const [elsewhere, , , ...kept] = ended;
    const open = await start(path, later);
    const listed = async () =>
      (await app.call('GET', `${path}/rollouts?flag=${FLAG}`)).json.rollouts.map(({ id }: Started) => id);
    expect(await listed()).toEqual([open.json.id, ...kept.toReversed(), elsewhere]);
    await app.call('DELETE', `${path}/flags/${FLAG}?archive=true`);
    expect(await listed()).toEqual([]);
  });

  test('two plans that start at the same time for one flag are one plan', async () => {
    const { path } = await projectWithFlag();
    const answers = await Promise.all([start(path), start(path), start(path)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
  });

  test('a plan and a scheduled change of one flag in one environment are refused, whichever comes second, unless both are meant', async () => {
    const schedule = (path: string, environment: string, more: object = {}) =>
      app.call('POST', `${path}/schedules`, {
        body: {
          environment,
          dueAt: inMinutes(600),
          changes: [{ key: FLAG, patch: { unset: ['rolloutPct'] } }],
          ...more,
        },
      });
    const { path } = await started();
    const second = await schedule(path, 'production');
    expect([second.status, second.json.error]).toEqual([409, 'already_planned']);
    expect(second.json.message).toContain('has an open rollout plan in production');
    expect((await schedule(path, 'staging')).status).toBe(201);
    expect((await schedule(path, 'production', { anyway: true })).status).toBe(201);

    const other = await projectWithFlag();
    const first = await schedule(other.path, 'production');
    expect(first.status).toBe(201);
    const refused = await start(other.path);
    expect([refused.status, refused.json.error]).toEqual([409, 'already_planned']);
    expect(refused.json.message).toContain(`cancel the schedule ${first.json.id} first`);
    expect((await start(other.path, HOURLY, { anyway: true })).status).toBe(201);

    const third = await projectWithFlag();
    const { id } = (await schedule(third.path, 'production')).json;
    await app.call('DELETE', `${third.path}/schedules/${id}`);
    expect((await start(third.path)).status).toBe(201);
  });
});
