import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { SqlStore } from '../../storage/store.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { openTestApp, type TestApp, type TestRequest } from '../api/test-app.ts';
import { runDueRollouts } from './schedule-runner.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('rollout plans on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  const MINUTE_MS = 60_000;
  const HOURLY = [
    { rolloutPct: 5 },
    { rolloutPct: 25, waitMinutes: 60 },
    { rolloutPct: 100, waitMinutes: 60 },
  ];
  const FLAG = 'checkout';
  const ON_AT = (rolloutPct: number) => ({ enabled: true, value: 'v2', rolloutPct });

  interface Started {
    readonly path: string;
    readonly name: string;
    readonly id: string;
    // biome-ignore lint/suspicious/noExplicitAny: an answer of any shape.
    readonly plan: any;
  }

  /** A project with the flag, which is off in production. */
  async function projectWithFlag(): Promise<{ readonly name: string; readonly path: string }> {
    const project = await app.project();
    const body = { enabled: false, value: 'v2', rolloutPct: 50 };
    await app.call('PUT', `${project.path}/environments/production/flags/${FLAG}`, { body });
    return project;
  }

  const start = (path: string, steps: object[] = HOURLY, more: object = {}, request: TestRequest = {}) =>
    app.call('POST', `${path}/rollouts`, {
      body: { flag: FLAG, environment: 'production', steps, ...more },
      ...request,
    });

  async function started(
    steps: object[] = HOURLY,
    more: object = {},
    request: TestRequest = {},
  ): Promise<Started> {
    const project = await projectWithFlag();
    const { status, json, text } = await start(project.path, steps, more, request);
    if (status !== 201) throw new Error(text);
    return { ...project, id: json.id, plan: json };
  }

  const command = ({ path, id }: Pick<Started, 'path' | 'id'>, name: string, request: TestRequest = {}) =>
    app.call('POST', `${path}/rollouts/${id}/${name}`, request);

  const planOf = async ({ path, id }: Pick<Started, 'path' | 'id'>) =>
    (await app.call('GET', `${path}/rollouts/${id}`)).json;

  const stateOf = async ({ path }: Pick<Started, 'path'>) =>
    (await app.call('GET', `${path}/environments/production/flags/${FLAG}`)).json?.state;

  const audit = async ({ name }: Pick<Started, 'name'>, action: string) =>
    (await app.call('GET', `/api/audit?project=${name}&action=${action}`)).json.entries;

  const pass = (minutes: number) => {
    app.node.now += minutes * MINUTE_MS;
  };

  const inMinutes = (minutes: number) => new Date(app.node.now + minutes * MINUTE_MS).toISOString();

  test('each step runs after its wait, once and not before, and the last one reaches everyone', async () => {
    const made = await started(HOURLY, { note: 'launch' });
    expect(made.plan).toMatchObject({
      ...{ flag: FLAG, environment: 'production', status: 'running', fromPct: 0, note: 'launch' },
      ...{ createdBy: 'token:admin', runsAs: 'token:admin', dueAt: inMinutes(60) },
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
      { note: 'Rollout plan, step 2 of 3: launch', after: { step: 2, from: 5, to: 25 } },
      { action: 'rollout.advanced', after: { step: 1, from: 0, to: 5 } },
      { action: 'rollout.started', after: { id: made.id, from: 0, steps: HOURLY } },
    ]);
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
      ...{ status: 'paused', statusBy: 'system' },
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
      ...{ statusBy: 'system', reason: 'The flag was changed outside the plan.' },
    });
  });

  /** Ways to remove what a plan needs, with the reason of its end. */
  const REMOVALS: readonly [string, string, (path: string) => Promise<unknown>][] = [
    [
      'archived',
      'The flag "checkout" was archived.',
      (path) => app.call('POST', `${path}/flags/${FLAG}/archive`),
    ],
    ['removed', 'The flag was removed from production.', (path) => app.call('DELETE', stateUrl(path))],
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
      ...{ status: 'paused', statusBy: 'system' },
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
    [[{ rolloutPct: 50 }], 'The plan has 1 step: a plan has 2 to 20.'],
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

  test('two plans that start at the same time for one flag are one plan', async () => {
    const { path } = await projectWithFlag();
    const answers = await Promise.all([start(path), start(path), start(path)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
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
