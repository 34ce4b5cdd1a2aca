import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { FLAG, GuardedProject, makeTeam, type Team } from '../proposals/test-approvals.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('a person who leaves on $name', (engine: TestEngine) => {
  let app: TestApp;
  let team: Team;
  let project: GuardedProject;
  beforeAll(async () => {
    app = await openTestApp(engine);
    team = await makeTeam(app);
    project = await GuardedProject.make(team);
  });
  afterAll(() => app.close());

  const operatorOf = async (email: string) =>
    (await app.done('GET', '/api/operators')).operators.find((one: { email: string }) => one.email === email);

  test('S23.3 shows what they have, and its removal ends what would run with their rights', async () => {
    const { cleo, emails } = team;
    const { path, name } = project;
    const dueAt = new Date(app.node.now + 3_600_000).toISOString();
    await app.done('PUT', `${path}/environments/staging/flags/other`, { body: { enabled: true } });
    await app.done('PUT', `${path}/environments/staging/flags/${FLAG}`, { body: { enabled: false } });
    const changes = [{ key: 'other', state: { enabled: false } }];
    const steps = [{ rolloutPct: 10 }, { rolloutPct: 100, waitMinutes: 60 }];
    const made = async (method: string, at: string, body: object, headers = {}) => {
      const { status, json, text } = await cleo.call(method, at, { body, headers });
      expect([at, status < 300 ? 'made' : text]).toEqual([at, 'made']);
      return json;
    };

    const token = await made('POST', '/api/session/tokens', { name: 'cleo-cli' });
    const schedule = await made('POST', `${path}/schedules`, { environment: 'staging', dueAt, changes });
    const plan = await made('POST', `${path}/rollouts`, { environment: 'staging', flag: FLAG, steps });
    const proposal = (await project.propose(cleo)).json;
    const byToken = await app.done('PATCH', `${project.state}?propose=true`, {
      token: token.token,
      body: { rolloutPct: 5 },
    });
    await app.done('PATCH', `${path}/flags/${FLAG}`, { body: { owner: 'CLEO@example.com' } });
    // As an administrator for a while, she made things for others.
    const { id } = await operatorOf(emails.cleo);
    await app.done('PATCH', `/api/operators/${id}`, {
      body: { projects: [{ project: name, role: 'admin' }] },
    });
    const key = await made('POST', `${path}/keys`, { name: 'web', environments: ['production'] });
    const projects = [{ project: name, role: 'viewer' }];
    const pipeline = await made('POST', '/api/tokens', { name: 'ci', projects });
    const link = await made('POST', '/api/invitations', { email: 'friend@example.com', projects });
    // What she made with a token of hers stays hers when that has ended, and another person's token has its name.
    const lost = await made('POST', '/api/session/tokens', { name: 'laptop' });
    const makeKey = (name: string, { token }: { token: string }) =>
      app.done('POST', `${path}/keys`, { body: { name, environments: ['staging'] }, token });
    const forgotten = await makeKey('forgotten', lost);
    await cleo.call('DELETE', `/api/session/tokens/${lost.id}`);
    await makeKey(
      'adas',
      (await team.ada.call('POST', '/api/session/tokens', { body: { name: 'laptop' } })).json,
    );

    const { ends, stays } = await app.done('GET', `/api/operators/${id}/holdings`);
    expect(ends).toMatchObject({
      sessions: [{ expiresAt: expect.any(String) }],
      tokens: [{ id: token.id, owner: emails.cleo }],
      links: [{ id: link.id, kind: 'invite' }],
      schedules: [{ id: schedule.id, project: name, environment: 'staging', dueAt }],
      plans: [{ id: plan.id, project: name, environment: 'staging', flag: FLAG, status: 'running' }],
      proposals: [{ id: proposal.id, project: name }, { id: byToken.id }],
    });
    expect(stays).toMatchObject({
      tokens: [{ id: pipeline.id }],
      keys: [{ id: forgotten.id }, { id: key.id, project: name, name: 'web', lastFour: key.lastFour }],
      flags: [{ project: name, key: FLAG }],
    });
    const { status } = await team.ben.call('GET', `/api/operators/${id}/holdings`);
    expect(status).toBe(403);

    await app.done('DELETE', `/api/operators/${id}`);
    const reason = expect.stringContaining('was removed');
    const { schedules } = await app.done('GET', `${path}/schedules`);
    expect(schedules).toMatchObject([{ status: 'cancelled', error: reason }]);
    expect(await app.done('GET', `${path}/rollouts/${plan.id}`)).toMatchObject({ status: 'paused', reason });
    for (const each of [proposal, byToken]) {
      expect(await project.proposal(each.id)).toMatchObject({ status: 'withdrawn', outcome: reason });
      expect((await project.decide(team.ada, each.id, 'approve')).json.error).toBe('proposal_closed');
    }
    expect(await project.isOn()).toBe(false);
    const { invitations } = await app.done('GET', '/api/invitations');
    expect(invitations).toEqual([]);
    expect((await app.call('GET', '/api/whoami', { token: token.token })).status).toBe(401);
    expect((await app.call('GET', '/api/whoami', { token: pipeline.token })).status).toBe(200);

    // Another person goes on with the plan.
    expect((await team.ada.call('POST', `${path}/rollouts/${plan.id}/resume`)).status).toBe(200);
  });

  test('S23.3 a refused removal ends nothing, and what a demoted person proposed is refused', async () => {
    const { ada, dan, emails } = team;
    const { path } = await GuardedProject.make(team);
    const dueAt = new Date(app.node.now + 3_600_000).toISOString();
    const changes = [{ key: FLAG, state: { enabled: false } }];
    await ada.call('POST', `${path}/schedules`, { body: { environment: 'staging', dueAt, changes } });
    const { id } = await operatorOf(emails.ada);
    // The only administrator.
    expect((await app.call('DELETE', `/api/operators/${id}`)).status).toBe(400);
    expect((await app.done('GET', `${path}/schedules`)).schedules).toMatchObject([{ status: 'pending' }]);

    const proposal = (await project.propose(dan)).json;
    const { id: dans } = await operatorOf(emails.dan);
    await app.done('PATCH', `/api/operators/${dans}`, { body: { role: 'viewer' } });
    const refused = await project.decide(ada, proposal.id, 'approve');
    expect(refused.json.error).toBe('revision_conflict');
    expect(await project.proposal(proposal.id)).toMatchObject({ status: 'outdated' });
    expect(await project.isOn()).toBe(false);
  });
});
