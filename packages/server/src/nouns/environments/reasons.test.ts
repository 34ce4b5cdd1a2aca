import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp, type TestRequest } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { FLAG, GUARDED_CHANGES, GuardedProject, makeTeam, type Team } from '../proposals/test-approvals.ts';
import { runDueRollouts } from '../rollouts/rollout-runner.ts';
import { runDueSchedules } from '../schedules/schedule-runner.ts';

setDefaultTimeout(60_000);

const WHY = { 'X-Change-Note': 'the shop asked for it' };

describe.each(ENGINES)('required reasons on $name', (engine: TestEngine) => {
  let app: TestApp;
  let team: Team;

  beforeAll(async () => {
    app = await openTestApp(engine);
    team = await makeTeam(app);
  });
  afterAll(() => app.close());

  const open = (settings: object = {}) =>
    GuardedProject.make(team, { approvals: 0, reasonRequired: true, ...settings });
  const production = ({ path }: GuardedProject) => `${path}/environments/production`;

  async function call(method: string, path: string, request: TestRequest = {}) {
    const { status, json } = await app.call(method, path, request);
    return [status, json?.error];
  }

  const CHANGES: typeof GUARDED_CHANGES = [
    ...GUARDED_CHANGES.filter(([name]) => name !== 'fewer approvals'),
    ['no reasons any longer', (project) => ({ path: production(project), body: { reasonRequired: false } })],
    [
      'a published environment',
      (project) => ({
        method: 'PUT',
        path: `${production(project)}/publication`,
        body: { withoutKey: true },
      }),
    ],
  ];

  test.each(CHANGES)('%s needs a reason', async (_name, of) => {
    const project = await open();
    const { method = 'PATCH', path = project.state, body } = of(project) ?? {};
    const request = body === undefined ? {} : { body };

    expect(await call(method, path, request)).toEqual([428, 'reason_required']);
    expect(await call(method, path, { ...request, headers: { 'X-Change-Note': ' ' } })).toEqual([
      428,
      'reason_required',
    ]);
    const [status] = await call(method, path, { ...request, headers: WHY });
    expect(status).toBeOneOf([200, 201]);
  });

  test('a revert and each archived flag need a reason of the person, too', async () => {
    const project = await open();
    const { seq } = await app.done('PATCH', project.state, { body: { enabled: true }, headers: WHY });
    const revert = `/api/changes/${seq}/revert`;
    expect(await call('POST', revert, { body: {} })).toEqual([428, 'reason_required']);
    expect(await call('POST', revert, { body: {}, headers: WHY })).toEqual([200, undefined]);

    const archive = await app.call('POST', `${project.path}/flags/archive`, { body: { keys: [FLAG] } });
    expect(archive.json.results[0].error).toBe('reason_required');
  });

  test('a person is asked for a reason before a confirmation, and writers of one group each for their own', async () => {
    const project = await open();
    const change = { body: { enabled: true } };
    const asked = await team.ada.call('PATCH', project.state, change);
    expect(asked.json.error).toBe('reason_required');
    const confirmed = { ...WHY, 'X-Confirm-Environment': 'production' };
    expect((await team.ada.call('PATCH', project.state, { ...change, headers: WHY })).status).toBe(428);

    const [bare, with_] = await Promise.all([
      team.ada.call('PATCH', project.state, change),
      team.ada.call('PATCH', project.state, { ...change, headers: confirmed }),
    ]);
    expect([bare.json.error, with_.status]).toEqual(['reason_required', 200]);
  });

  test('the note of a schedule or plan is its reason, and what was there before the setting runs on', async () => {
    const project = await open({ reasonRequired: false });
    const dueAt = new Date(app.node.now + 3_600_000).toISOString();
    const schedule = (more: object) => ({
      body: {
        environment: 'production',
        dueAt,
        changes: [{ key: FLAG, patch: { value: 'scheduled' } }],
        ...more,
      },
    });
    const plan = (flag: string, more: object) => ({
      body: {
        environment: 'production',
        flag,
        steps: [{ rolloutPct: 5 }, { rolloutPct: 100, waitMinutes: 30 }],
        ...more,
      },
    });
    await app.done('PUT', `${production(project)}/flags/planned`, { body: { enabled: false } });
    await app.done('PUT', `${production(project)}/flags/other`, { body: { enabled: false } });
    await app.done('POST', `${project.path}/schedules`, schedule({}));
    const { id } = await app.done('POST', `${project.path}/rollouts`, plan('planned', {}));

    await app.done('PATCH', production(project), { body: { reasonRequired: true } });
    expect(await call('POST', `${project.path}/schedules`, schedule({}))).toEqual([428, 'reason_required']);
    expect(await call('POST', `${project.path}/schedules`, schedule({ note: 'a sale' }))).toEqual([
      201,
      undefined,
    ]);
    expect(await call('POST', `${project.path}/rollouts`, plan('other', {}))).toEqual([
      428,
      'reason_required',
    ]);
    expect((await call('POST', `${project.path}/rollouts`, plan('other', { note: 'a test' })))[0]).toBe(201);
    expect(await call('POST', `${project.path}/rollouts/${id}/advance`)).toEqual([428, 'reason_required']);
    expect(await call('POST', `${project.path}/rollouts/${id}/pause`)).toEqual([200, undefined]);
    expect(await call('POST', `${project.path}/rollouts/${id}/resume`, { headers: WHY })).toEqual([
      200,
      undefined,
    ]);

    app.node.now += 3_700_000;
    await runDueSchedules(app.context);
    await runDueRollouts(app.context);
    const { schedules } = await app.done('GET', `${project.path}/schedules`);
    expect(schedules.map(({ status }: { status: string }) => status)).toEqual(['done', 'done']);
    const { rollouts } = await app.done('GET', `${project.path}/rollouts`);
    expect(rollouts.map(({ status }: { status: string }) => status)).toEqual(['done', 'done']);
  });

  test('a proposal keeps the reason of its author, and one from before the setting is outdated', async () => {
    const project = await open({ approvals: 1, reasonRequired: false });
    const early = await project.propose(team.dan);
    await app.done('PATCH', production(project), { body: { reasonRequired: true } });

    const late = await project.decide(team.ben, early.json.id, 'approve');
    expect([late.status, late.json.error]).toEqual([412, 'revision_conflict']);
    expect((await project.proposal(early.json.id)).status).toBe('outdated');

    expect((await project.propose(team.dan)).json.error).toBe('reason_required');
    const target = `${project.state}?propose=true`;
    const asked = await team.dan.call('PATCH', target, { body: { enabled: true }, headers: WHY });
    await project.decide(team.ben, asked.json.id, 'approve');
    expect(await project.isOn()).toBe(true);
    const { entries } = await app.done('GET', `/api/audit?project=${project.name}&target=${FLAG}&limit=1`);
    expect(entries[0].note).toBe(WHY['X-Change-Note']);
  });

  test('the setting is audited, ends with its environment, and cannot be written around by an older program', async () => {
    const project = await open();
    const { environments } = await app.done('GET', `${project.path}/environments`);
    expect(environments.at(-1)).toMatchObject({ name: 'production', reasonRequired: true });
    const { entries } = await app.done('GET', `/api/audit?project=${project.name}&limit=1`);
    expect(entries[0]).toMatchObject({ action: 'environment.updated', after: { reasonRequired: true } });

    const place = "project_id = (SELECT id FROM projects WHERE name = $1) AND name = 'production'";
    const write = `UPDATE environments SET revision = revision + 1 WHERE ${place}`;
    await expect(app.home.database.query(write, [project.name])).rejects.toThrow();

    await app.done('DELETE', production(project), { headers: WHY });
    await app.done('POST', `${project.path}/environments`, { body: { name: 'production' } });
    expect(await call('PUT', project.state, { body: { enabled: true } })).toEqual([200, undefined]);
  });
});
