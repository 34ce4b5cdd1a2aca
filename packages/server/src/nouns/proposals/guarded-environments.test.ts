import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestAnswer, type TestApp } from '../../management/api/test-app.ts';
import type { TestBrowser } from '../../management/api/test-browser.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { runDueSchedules } from '../schedules/schedule-runner.ts';
import { FLAG, GUARDED_CHANGES, GuardedProject, makeTeam, type Team } from './test-approvals.ts';

setDefaultTimeout(60_000);

/** Makes a change at once, as the emergency of a person. */
function inEmergency(by: TestBrowser, method: string, path: string, body?: unknown): Promise<TestAnswer> {
  const headers = { 'X-Confirm-Environment': 'production', 'X-Change-Note': 'the shop is down' };
  const target = `${path}${path.includes('?') ? '&' : '?'}emergency=true`;
  return by.call(method, target, { headers, ...(body !== undefined && { body }) });
}

/** The paths that a path of the OpenAPI document describes. */
function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

/** A rollout plan that runs, and its path. */
async function startPlan({ team, path }: GuardedProject): Promise<string> {
  const steps = [5, 100].map((rolloutPct) => ({ rolloutPct, waitMinutes: 60 }));
  const body = { environment: 'production', flag: FLAG, steps };
  const { json } = await inEmergency(team.ada, 'POST', `${path}/rollouts`, body);
  return `${path}/rollouts/${json.id}`;
}

/** Besides {@link GUARDED_CHANGES}: a change by each other operation that can be proposed. */
const OTHER_CHANGES: readonly (readonly [string, (project: GuardedProject) => Change | Promise<Change>])[] = [
  ['a part of a state', () => ({ body: { value: 1 } })],
  [
    'a new flag',
    ({ path }) => ({
      method: 'POST',
      path: `${path}/flags`,
      body: { key: 'new', states: { production: { enabled: true } } },
    }),
  ],
  ['a deleted flag', ({ path }) => ({ method: 'DELETE', path: `${path}/flags/${FLAG}?archive=true` })],
  [
    'a restored flag',
    async ({ team, path }) => {
      await inEmergency(team.ada, 'POST', `${path}/flags/${FLAG}/archive`);
      return { method: 'POST', path: `${path}/flags/${FLAG}/restore` };
    },
  ],
  [
    'a revert',
    async ({ team, name }) => {
      const filter = `project=${name}&environment=production&action=flag.changed`;
      const { entries } = await team.app.done('GET', `/api/audit?${filter}`);
      return { method: 'POST', path: `/api/changes/${entries[0].operation}/revert`, body: {} };
    },
  ],
  [
    'the next step of a plan',
    async (project) => ({ method: 'POST', path: `${await startPlan(project)}/advance` }),
  ],
  [
    'a plan that is resumed',
    async (project) => {
      const plan = await startPlan(project);
      await project.team.ada.call('POST', `${plan}/pause`);
      return { method: 'POST', path: `${plan}/resume` };
    },
  ],
];

/** What {@link GuardedProject.propose} takes. */
type Change = Parameters<GuardedProject['propose']>[1];

describe.each(ENGINES)('guarded environments on $name', (engine: TestEngine) => {
  let app: TestApp;
  let team: Team;

  beforeAll(async () => {
    app = await openTestApp(engine);
    team = await makeTeam(app);
  });
  afterAll(() => app.close());

  test.each(GUARDED_CHANGES)('%s needs approval, and is made with it', async (_name, of) => {
    const project = await GuardedProject.make(team);
    const change = of(project);
    const { method = 'PATCH', path = project.state, body } = change ?? {};
    const direct = await app.call(method, path, body === undefined ? {} : { body });
    expect([direct.status, direct.json.error]).toEqual([409, 'approval_required']);

    const proposed = await project.propose(undefined, change);
    expect([proposed.status, proposed.text]).toEqual([202, expect.any(String)]);
    const approved = await project.decide(team.ada, proposed.json.id, 'approve');
    expect([approved.status, approved.text]).toEqual([200, expect.stringContaining('"applied"')]);
  });

  test('to revert what raised the approvals needs approval, and lowers them with it', async () => {
    const project = await GuardedProject.make(team);
    const filter = `project=${project.name}&action=environment.updated`;
    const { entries } = await app.done('GET', `/api/audit?${filter}`);
    const change = { method: 'POST', path: `/api/changes/${entries[0].operation}/revert`, body: {} };
    const direct = await app.call(change.method, change.path, { body: {} });
    expect([direct.status, direct.json.error]).toEqual([409, 'approval_required']);

    const proposed = await project.propose(team.ben, change);
    expect([proposed.status, proposed.text]).toEqual([403, expect.any(String)]);
    const { json } = await project.propose(team.ada, change);
    expect((await project.decide(team.ben, json.id, 'approve')).json.status).toBe('applied');
    const { environments } = await app.done('GET', project.path);
    expect(environments.find(({ name }: { name: string }) => name === 'production').approvals).toBe(0);
  });

  test('what is not guarded is not proposed, and needs no approval', async () => {
    const { path, state } = await GuardedProject.make(team);
    const cleaned = await app.call('POST', `${path}/flags/archive`, { body: { keys: [FLAG] } });
    expect(cleaned.json.results[0].error).toBe('approval_required');
    const renamed = await app.call('PATCH', `${path}/flags/${FLAG}`, { body: { description: 'new' } });
    expect(renamed.status).toBe(200);
    const odd = await app.call('PATCH', `${path}/flags/${FLAG}?propose=true`, { body: { description: 'x' } });
    expect([odd.status, odd.json.error]).toEqual([400, 'invalid_argument']);
    const staging = state.replace('production', 'staging');
    const needless = await app.call('PATCH', `${staging}?propose=true`, { body: { enabled: false } });
    expect([needless.status, needless.json.error]).toEqual([400, 'invalid_argument']);
    expect((await app.done('GET', staging)).state.enabled).toBe(true);
  });

  test('in an emergency an administrator changes at once, and another person acknowledges it', async () => {
    const project = await GuardedProject.make(team);
    const emergency = (by: TestBrowser, body: object, note?: string) =>
      by.call('PATCH', `${project.state}?emergency=true`, {
        body,
        headers: {
          'X-Confirm-Environment': 'production',
          ...(note !== undefined && { 'X-Change-Note': note }),
        },
      });
    expect((await emergency(team.ada, { enabled: true })).json.error).toBe('invalid_argument');
    expect((await emergency(team.ben, { enabled: true }, 'down')).json.error).toBe('forbidden');
    expect((await emergency(team.ada, { enabled: true }, 'the shop is down')).status).toBe(200);
    expect(await project.isOn()).toBe(true);

    const [open] = (await app.done('GET', `${project.path}/proposals?status=emergency`)).proposals;
    expect(open).toMatchObject({ note: 'the shop is down', author: 'operator:ada@example.com' });
    expect((await project.decide(team.ada, open.id, 'acknowledge')).status).toBe(403);
    expect((await project.decide(team.ben, open.id, 'acknowledge')).json.status).toBe('acknowledged');

    // An editor may turn a flag off, and nothing else.
    expect((await emergency(team.ben, { enabled: false, rolloutPct: 5 }, 'x')).status).toBe(403);
    expect((await emergency(team.ben, { enabled: false }, 'x')).status).toBe(200);
    await project.decide(team.ada, (await project.propose(team.ben)).json.id, 'approve');
    const strict = { body: { emergencyOff: false } };
    await app.done('PATCH', `${project.path}/environments/production`, strict);
    expect((await emergency(team.ben, { enabled: false }, 'x')).status).toBe(403);

    // The audit log names the setting where it differs from what every environment has at first.
    const { entries } = await app.done(
      'GET',
      `/api/audit?project=${project.name}&action=environment.updated&limit=1`,
    );
    expect([entries[0].before.emergencyOff, entries[0].after.emergencyOff]).toEqual([undefined, false]);
  });

  test('what guards an environment is no emergency', async () => {
    const { path } = await GuardedProject.make(team);
    const headers = { 'X-Confirm-Environment': 'production', 'X-Change-Note': 'now' };
    const asked = { body: { approvals: 0 }, headers };
    const answer = await team.ada.call('PATCH', `${path}/environments/production?emergency=true`, asked);
    expect([answer.status, answer.json.error]).toEqual([409, 'approval_required']);
  });

  test('an emergency makes every change that can be proposed, but those of guards and of what they guard', async () => {
    const guarded = (await app.operations()).filter(({ described }) =>
      described.parameters?.some(({ name }: { name: string }) => name === 'emergency'),
    );
    const operationOf = (method: string, path: string) =>
      guarded.find((each) => each.method === method && patternOf(each.path).test(path.replace(/\?.*/, '')));
    const called = new Set<string>();
    const refused: string[] = [];

    for (const [name, of] of [...GUARDED_CHANGES, ...OTHER_CHANGES]) {
      const project = await GuardedProject.make(team);
      const { method = 'PATCH', path = project.state, body } = (await of(project)) ?? {};
      const { status, json, text } = await inEmergency(team.ada, method, path, body);
      called.add(operationOf(method, path)?.described.operationId);
      if (json?.error === 'approval_required') refused.push(name);
      else expect([name, status < 300, text]).toEqual([name, true, text]);
    }

    expect(refused).toEqual([
      'fewer approvals',
      'the end of the protection',
      'the end of the environment',
      'the end of the project',
    ]);
    expect([...called].sort()).toEqual(guarded.map(({ described }) => described.operationId).sort());
  });

  test('an environment requires no more approvals than its people can give', async () => {
    const { path } = await app.project();
    const target = `${path}/environments/production`;
    const { operators } = await app.done('GET', '/api/operators');
    const able = operators.filter(
      ({ role, canChangeProtected }: { role: string; canChangeProtected: boolean }) =>
        role === 'admin' || canChangeProtected,
    );
    expect(able.length).toBeGreaterThan(2);
    for (const { id } of able.slice(2)) {
      await app.done('PATCH', `/api/operators/${id}`, {
        body: { role: 'editor', canChangeProtected: false },
      });
    }
    const refused = await app.call('PATCH', target, { body: { approvals: 2 } });
    expect([refused.status, refused.json.error]).toEqual([400, 'invalid_argument']);
    for (const { id, role, canChangeProtected } of able.slice(2)) {
      await app.done('PATCH', `/api/operators/${id}`, { body: { role, canChangeProtected } });
    }
    await Promise.all([team.ben.signIn(team.emails.ben), team.cleo.signIn(team.emails.cleo)]);
    expect((await app.call('PATCH', `${path}/environments/staging`, { body: { approvals: 1 } })).status).toBe(
      400,
    );
  });

  test('the schedule of an approved proposal runs, and one from before the approvals fails', async () => {
    const project = await GuardedProject.make(team);
    const place = `${project.path}/environments/production`;
    const in1h = () => new Date(app.node.now + 3_600_000).toISOString();
    const body = () => ({
      environment: 'production',
      dueAt: in1h(),
      changes: [{ key: FLAG, patch: { enabled: true } }],
    });
    const statuses = async () =>
      (await app.done('GET', `${project.path}/schedules`)).schedules.map(
        ({ status }: { status: string }) => status,
      );

    const loosened = await project.propose(team.ada, { path: place, body: { approvals: 0 } });
    await project.decide(team.ben, loosened.json.id, 'approve');
    await app.done('POST', `${project.path}/schedules`, { body: body() });
    await app.done('PATCH', place, { body: { approvals: 1 } });
    app.node.now += 3_700_000;
    await runDueSchedules(app.context);
    expect([await statuses(), await project.isOn()]).toEqual([['failed'], false]);

    const approved = await project.propose(team.dan, {
      method: 'POST',
      path: `${project.path}/schedules`,
      body: body(),
    });
    await project.decide(team.ben, approved.json.id, 'approve');
    app.node.now += 3_700_000;
    await runDueSchedules(app.context);
    expect([await statuses(), await project.isOn()]).toEqual([['done', 'failed'], true]);
  });

  test('a token of a reviewed pipeline needs no approval', async () => {
    const project = await GuardedProject.make(team);
    const body = { name: `gitops ${project.name}`, role: 'editor', canChangeProtected: true, exempt: true };
    const { token, exempt } = await app.done('POST', '/api/tokens', { body });
    expect(exempt).toBe(true);
    const answer = await app.call('PATCH', project.state, { body: { enabled: true }, token });
    expect([answer.status, await project.isOn()]).toEqual([200, true]);

    const asked = await app.call('PATCH', `${project.state}?propose=true`, {
      body: { enabled: false },
      token,
    });
    expect([asked.status, await project.isOn()]).toEqual([202, true]);
  });

  test('a program that does not know approvals cannot write around them', async () => {
    const project = await GuardedProject.make(team);
    const place = "project_id = (SELECT id FROM projects WHERE name = $1) AND name = 'production'";
    const write = app.home.database.query(`UPDATE environments SET revision = revision + 1 WHERE ${place}`, [
      project.name,
    ]);
    await expect(write).rejects.toThrow();
    const end = app.home.database.query(`UPDATE environments SET deleted_at = 1 WHERE ${place}`, [
      project.name,
    ]);
    await expect(end).rejects.toThrow();
  });
});
