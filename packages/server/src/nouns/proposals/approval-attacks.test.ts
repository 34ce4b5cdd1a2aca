import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import { openTestApp, TestApp } from '../../management/api/test-app.ts';
import { backUp } from '../../storage/backup.ts';
import { SqlStore } from '../../storage/store.ts';
import { BackupPlaces, HALYARD, open } from '../../storage/test-backups.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { restore } from '../restore.ts';
import { runDueRollouts } from '../rollouts/rollout-runner.ts';
import { FLAG, GuardedProject, makeTeam, type Team } from './test-approvals.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('attempts to get past approvals on $name', (engine: TestEngine) => {
  let app: TestApp;
  let team: Team;

  beforeAll(async () => {
    app = await openTestApp(engine);
    team = await makeTeam(app);
  });
  afterAll(() => app.close());

  test('a plan that runs when approvals come to be required pauses, with the reason', async () => {
    const { path } = await app.project();
    const steps = [{ rolloutPct: 5 }, { rolloutPct: 100, waitMinutes: 60 }];
    await app.done('PUT', `${path}/environments/production/flags/${FLAG}`, { body: { enabled: false } });
    const body = { flag: FLAG, environment: 'production', steps };
    const { id } = await app.done('POST', `${path}/rollouts`, { body });
    await app.done('PATCH', `${path}/environments/production`, { body: { approvals: 1 } });

    app.node.now += 3_700_000;
    await runDueRollouts(app.context);
    const plan = await app.done('GET', `${path}/rollouts/${id}`);
    expect(plan).toMatchObject({ status: 'paused', reason: expect.stringContaining('requires approvals') });
    expect((await app.call('POST', `${path}/rollouts/${id}/advance`)).json.error).toBe('approval_required');
  });

  test('the plan of an approved proposal takes its steps by itself', async () => {
    const project = await GuardedProject.make(team);
    const steps = [{ rolloutPct: 5 }, { rolloutPct: 100, waitMinutes: 60 }];
    const body = { flag: FLAG, environment: 'production', steps };
    const change = { method: 'POST', path: `${project.path}/rollouts`, body };
    const { id } = (await project.propose(team.dan, change)).json;
    await project.decide(team.ben, id, 'approve');

    app.node.now += 3_700_000;
    await runDueRollouts(app.context);
    expect((await app.done('GET', project.state)).state).toEqual({ enabled: true });
  });

  test('two nodes that apply one proposal at the same moment make one change', async () => {
    const project = await GuardedProject.make(team);
    const database = await app.home.connect();
    const other = new TestApp({ ...app.home, database, store: new SqlStore(database) });
    const { id } = (await project.propose(team.dan)).json;

    const headers = (browser: Team['ben']) => ({
      Origin: 'https://flags.example',
      Cookie: `__Host-halyard_session=${browser.id}`,
      'X-Confirm-Environment': 'production',
    });
    const target = `${project.path}/proposals/${id}/approve`;
    const answers = await Promise.all([
      app.call('POST', target, { token: null, headers: headers(team.ben) }),
      other.call('POST', target, { token: null, headers: headers(team.cleo) }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await app.done('GET', project.state)).revision).toBe(2);
  });

  test('an approval waits for a decision on the same proposal before it locks people, as all operations do', async () => {
    const project = await GuardedProject.make(team, { emergencyOff: false });
    // It counts the people who can approve, before its approval is looked at.
    const change = {
      path: `${project.path}/environments/production`,
      body: { approvals: 2, emergencyOff: true },
    };
    const { id } = (await project.propose(team.ada, change)).json;
    const other = await app.home.connect();
    let approved: ReturnType<GuardedProject['decide']> | undefined;

    await other.transaction(async (tx) => {
      await tx.query('UPDATE proposals SET status = status WHERE id = $1', [id]);
      approved = project.decide(team.ben, id, 'approve');
      // SQLite has one writer at a time.
      if (engine.name === 'sqlite') return;
      const waiting = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'UPDATE proposals%'
        AND datname = current_database()`;
      await until('the approval waits', async () => (await app.home.database.query(waiting)).length > 0);
      await tx.query('SELECT seq FROM feed FOR UPDATE NOWAIT');
    });
    expect((await approved)?.status).toBe(200);
  });

  test('an approval and a change by a reviewed pipeline at the same moment: whichever is second sees the first', async () => {
    const project = await GuardedProject.make(team);
    const made = { name: `gitops ${project.name}`, role: 'editor', canChangeProtected: true, exempt: true };
    const { token } = await app.done('POST', '/api/tokens', { body: made });
    const { id } = (await project.propose(team.dan)).json;
    const [approved, direct] = await Promise.all([
      project.decide(team.ben, id, 'approve'),
      app.call('PATCH', project.state, { body: { rolloutPct: 5 }, token }),
    ]);
    expect(direct.status).toBe(200);
    const { state } = await app.done('GET', project.state);
    const wasFirst = approved.status === 200;
    expect(state).toEqual(wasFirst ? { enabled: true, rolloutPct: 5 } : { enabled: false, rolloutPct: 5 });
    expect((await project.proposal(id)).status).toBe(wasFirst ? 'applied' : 'outdated');
  });

  /** Does something between the request of the last approval and its commit. */
  function justBefore(work: () => Promise<unknown>): void {
    app.node.beforeCommit = async () => {
      app.node.beforeCommit = async () => {};
      await work();
    };
  }

  test('approvals that come to be required just before the commit count', async () => {
    const project = await GuardedProject.make(team);
    const { id } = (await project.propose(team.dan)).json;
    const place = `${project.path}/environments/production`;
    justBefore(() => app.done('PATCH', place, { body: { approvals: 2 } }));
    expect((await project.decide(team.ben, id, 'approve')).json.status).toBe('open');
    expect(await project.isOn()).toBe(false);
    expect((await project.decide(team.cleo, id, 'approve')).json.status).toBe('applied');
  });

  test('an author who loses every right just before the commit changes nothing', async () => {
    const project = await GuardedProject.make(team);
    const made = await app.done('POST', '/api/tokens', {
      body: { name: `gone ${project.name}`, role: 'editor' },
    });
    const request = { body: { enabled: true }, token: made.token };
    const { id } = (await app.call('PATCH', `${project.state}?propose=true`, request)).json;
    justBefore(() => app.done('DELETE', `/api/tokens/${made.id}`));
    expect((await project.decide(team.ben, id, 'approve')).json.error).toBe('revision_conflict');
    expect([await project.isOn(), (await project.proposal(id)).status]).toEqual([false, 'outdated']);
  });

  test('more approvals than a proposal was made for are needed all the same', async () => {
    const project = await GuardedProject.make(team);
    const { id } = (await project.propose(team.dan)).json;
    await app.done('PATCH', `${project.path}/environments/production`, { body: { approvals: 2 } });
    expect((await project.decide(team.ben, id, 'approve')).json.status).toBe('open');
    expect((await project.decide(team.cleo, id, 'approve')).json.status).toBe('applied');
  });

  test('the revert of a stricter guard loosens it, and needs approval', async () => {
    const project = await GuardedProject.make(team);
    const place = `${project.path}/environments/production`;
    const { seq } = await app.done('PATCH', place, { body: { approvals: 2 } });
    const refused = await app.call('POST', `/api/changes/${seq}/revert`, { body: {} });
    expect([refused.status, refused.json.error]).toEqual([409, 'approval_required']);
    const { environments } = await app.done('GET', `${project.path}/environments`);
    expect(environments[2].approvals).toBe(2);
  });

  test('a token that may only set states proposes, and does not decide', async () => {
    const project = await GuardedProject.make(team);
    const { token } = await app.done('POST', '/api/tokens', {
      body: { name: `states ${project.name}`, role: 'editor', only: 'states' },
    });
    const proposed = await app.call('PATCH', `${project.state}?propose=true`, {
      body: { enabled: true },
      token,
    });
    expect(proposed.status).toBe(202);
    const withdrawn = await app.call('POST', `${project.path}/proposals/${proposed.json.id}/withdraw`, {
      token,
    });
    expect(withdrawn.status).toBe(403);
  });
});

describe.each(ENGINES.map(({ name }) => name))('a restored backup of %s', (engine) => {
  const places = new BackupPlaces();
  afterAll(places.remove);

  test('has no open proposals: people may have decided on them since', async () => {
    const [place, file] = [await places.empty(engine), places.file()];
    const at = async () => {
      const database = await open(place);
      const close = () => database.close();
      const home = { address: '', connect: () => open(place), database, store: new SqlStore(database) };
      return new TestApp({ ...home, [Symbol.asyncDispose]: close });
    };
    const app = await at();
    const project = await GuardedProject.make(await makeTeam(app));
    const { id } = (await project.propose(project.team.ben)).json;
    await app.close();

    await backUp(place, file, HALYARD);
    const { interrupted } = await restore(file, place, { replace: true });
    expect(interrupted.endedProposals).toBe(1);
    const again = await at();
    const proposal = await again.done('GET', `${project.path}/proposals/${id}`);
    expect(proposal).toMatchObject({ status: 'withdrawn', outcome: expect.stringContaining('restored') });
    await again.close();
  });
});
