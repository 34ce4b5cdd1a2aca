import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { REMOVED_PERSON } from '../../domain/redaction.ts';
import { openTestApp, type TestAnswer, type TestApp } from '../../management/api/test-app.ts';
import { TestBrowser } from '../../management/api/test-browser.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { messageBody } from '../webhooks/message-body.ts';
import { runDueProposals } from './proposal-runner.ts';
import { FLAG, GuardedProject, makeTeam, type Team } from './test-approvals.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('approvals on $name', (engine: TestEngine) => {
  let app: TestApp;
  let team: Team;

  beforeAll(async () => {
    app = await openTestApp(engine);
    team = await makeTeam(app);
  });
  afterAll(() => app.close());

  test('a change waits for another person, whose approval makes it', async () => {
    const project = await GuardedProject.make(team);
    const refused = await app.call('PATCH', project.state, { body: { enabled: true } });
    expect([refused.status, refused.json.error]).toEqual([409, 'approval_required']);

    const { status, json } = await project.propose(team.ben);
    expect([status, json.status, json.author]).toEqual([202, 'open', 'operator:ben@example.com']);
    expect(json.effects).toEqual([
      {
        action: 'flag.changed',
        environment: 'production',
        target: FLAG,
        before: { enabled: false },
        after: { enabled: true },
      },
    ]);
    expect(await project.isOn()).toBe(false);

    const approved = await project.decide(team.cleo, json.id, 'approve');
    expect([approved.status, approved.json.status]).toEqual([200, 'applied']);
    expect(await project.isOn()).toBe(true);

    const change = await app.done('GET', `/api/changes/${approved.json.seq}`);
    expect(change.actor).toBe('operator:ben@example.com');
    const applied = change.entries.find(({ action }: { action: string }) => action === 'proposal.applied');
    expect(applied.after).toEqual({
      author: 'operator:ben@example.com',
      approvedBy: ['operator:cleo@example.com'],
    });
  });

  test('what was approved is reverted by another approval, and so is an emergency', async () => {
    const project = await GuardedProject.make(team);
    const { id } = (await project.propose(team.ben)).json;
    const approved = (await project.decide(team.cleo, id, 'approve')).json;
    expect((await app.done('GET', `/api/changes/${approved.seq}`)).revertible).toBe(true);

    const revert = (seq: number) =>
      team.ben.call('POST', `/api/changes/${seq}/revert?propose=true`, { body: {} });
    const back = await revert(approved.seq);
    expect(back.status).toBe(202);
    await project.decide(team.cleo, back.json.id, 'approve');
    expect(await project.isOn()).toBe(false);

    const emergency = await team.ada.call('PATCH', `${project.state}?emergency=true`, {
      body: { enabled: true },
      headers: { 'X-Change-Note': 'the shop is down', 'X-Confirm-Environment': 'production' },
    });
    expect([emergency.status, await project.isOn()]).toEqual([200, true]);
    const calm = await revert(emergency.json.seq);
    expect(calm.status).toBe(202);
    await project.decide(team.cleo, calm.json.id, 'approve');
    expect(await project.isOn()).toBe(false);
  });

  test('neither its author in any guise nor a token approves, nor a person who may not make the change', async () => {
    const project = await GuardedProject.make(team);
    const { id } = (await project.propose(team.ben)).json;

    const second = new TestBrowser(app);
    await second.signIn(team.emails.ben);
    for (const own of [team.ben, second]) {
      const { status, json } = await project.decide(own, id, 'approve');
      expect([status, json.message]).toEqual([403, 'You proposed this yourself: another person decides.']);
    }
    expect((await project.decide(team.dan, id, 'approve')).status).toBe(403);
    const byToken = await app.call('POST', `${project.path}/proposals/${id}/approve`);
    expect([byToken.status, byToken.json.error]).toEqual([403, 'forbidden']);
    expect((await project.proposal(id)).status).toBe('open');
  });

  test('what a token changes belongs to the person who created the token, also through other tokens', async () => {
    const project = await GuardedProject.make(team);
    const make = async (by: Pick<TestBrowser, 'call'>, name: string) => {
      const made = await by.call('POST', '/api/tokens', {
        body: { name: `${name} ${project.name}`, role: 'admin' },
      });
      return made.json.token as string;
    };
    const first = await make(team.ada, 'ci');
    const second = await make(
      { call: (...[method, path, request]) => app.call(method, path, { ...request, token: first }) },
      'ci2',
    );

    for (const [token, name] of [
      [first, 'ci'],
      [second, 'ci2'],
    ] as const) {
      const proposed = await app.call('PATCH', `${project.state}?propose=true`, {
        body: { enabled: true },
        token,
      });
      const by = { author: `token:${name} ${project.name}`, person: 'operator:ada@example.com' };
      expect(proposed.json).toMatchObject(by);
      expect((await project.decide(team.ada, proposed.json.id, 'approve')).status).toBe(403);
      expect((await project.decide(team.ben, proposed.json.id, 'approve')).json.status).toBe('applied');

      const headers = { 'X-Change-Note': 'the shop is down' };
      await app.done('PATCH', `${project.state}?emergency=true`, {
        body: { enabled: false },
        token,
        headers,
      });
      const [open] = (await app.done('GET', `${project.path}/proposals?status=emergency`)).proposals;
      expect(open).toMatchObject(by);
      expect((await project.decide(team.ada, open.id, 'acknowledge')).status).toBe(403);
      expect((await project.decide(team.ben, open.id, 'acknowledge')).json.status).toBe('acknowledged');
    }
  });

  test('S20.3 a token whose creator was removed from the audit log proposes only as its owner', async () => {
    const project = await GuardedProject.make(team);
    const body = (name: string) => ({ name: `${name} ${project.name}`, role: 'editor' });
    const old = await team.ada.call('POST', '/api/tokens', { body: body('old') });
    const own = await team.ben.call('POST', '/api/session/tokens', { body: body('own') });
    await app.home.database.query(
      `UPDATE audit_log SET actor = $1 WHERE action = 'token.created' AND target IN ($2, $3)`,
      [REMOVED_PERSON, old.json.id, own.json.id],
    );

    const propose = ({ json: { token } }: TestAnswer) =>
      app.call('PATCH', `${project.state}?propose=true`, { body: { enabled: true }, token });
    const refused = await propose(old);
    expect([refused.status, refused.json.message]).toEqual([403, expect.stringContaining('a new token')]);
    const proposed = await propose(own);
    expect(proposed.json).toMatchObject({ person: 'operator:ben@example.com' });
    expect((await project.decide(team.ben, proposed.json.id, 'approve')).status).toBe(403);
  });

  test('an approval is confirmed with the name of the environment', async () => {
    const project = await GuardedProject.make(team);
    const { id } = (await project.propose(team.ben)).json;
    const hasty = await team.cleo.call('POST', `${project.path}/proposals/${id}/approve`);
    expect([hasty.status, hasty.json.error]).toEqual([428, 'confirmation_required']);
  });

  test('where two must approve, no person counts twice', async () => {
    const project = await GuardedProject.make(team, { approvals: 2 });
    const { id } = (await project.propose(team.dan)).json;
    expect((await project.decide(team.ben, id, 'approve')).json.status).toBe('open');
    expect((await project.decide(team.ben, id, 'approve')).json.error).toBe('already_exists');
    expect(await project.isOn()).toBe(false);
    expect((await project.decide(team.cleo, id, 'approve')).json.status).toBe('applied');
    expect(await project.isOn()).toBe(true);
  });

  test('a flag that was changed in the meantime makes a proposal outdated, and stays as it is', async () => {
    const project = await GuardedProject.make(team);
    const [stale, other] = [(await project.propose(team.ben)).json, (await project.propose(team.dan)).json];
    const body = { rolloutPct: 5 };
    const third = (await project.propose(team.ben, { body })).json;
    await project.decide(team.cleo, third.id, 'approve');

    const refused = await project.decide(team.cleo, stale.id, 'approve');
    expect([refused.status, refused.json.error]).toEqual([412, 'revision_conflict']);
    expect(await project.proposal(stale.id)).toMatchObject({ status: 'outdated', approvals: [] });
    expect((await app.done('GET', project.state)).state).toEqual({ enabled: false, rolloutPct: 5 });
    expect((await project.proposal(other.id)).status).toBe('open');
    expect((await project.decide(team.cleo, stale.id, 'approve')).json.error).toBe('proposal_closed');
  });

  test('two last approvals at once make the change once', async () => {
    const project = await GuardedProject.make(team);
    const { id } = (await project.propose(team.dan)).json;
    const before = (await app.done('GET', project.state)).revision;
    const answers = await Promise.all([
      project.decide(team.ben, id, 'approve'),
      project.decide(team.cleo, id, 'approve'),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect((await app.done('GET', project.state)).revision).toBe(before + 1);
  });

  test('a right counts when the change is made: of the author, and of those who have approved', async () => {
    const project = await GuardedProject.make(team, { approvals: 2 });
    const eve = await app.done('POST', '/api/tokens', {
      body: { name: `eve ${project.name}`, role: 'editor' },
    });
    const request = { body: { enabled: true }, token: eve.token };
    const { id } = (await app.call('PATCH', `${project.state}?propose=true`, request)).json;
    await project.decide(team.ben, id, 'approve');

    const { operators } = await app.done('GET', '/api/operators');
    const ben = operators.find(({ email }: { email: string }) => email === team.emails.ben);
    const setBen = (canChangeProtected: boolean) =>
      app.done('PATCH', `/api/operators/${ben.id}`, { body: { canChangeProtected } });
    await setBen(false);
    expect((await project.decide(team.cleo, id, 'approve')).json.status).toBe('open');
    expect(await project.isOn()).toBe(false);
    await setBen(true);
    // Other rights end the sessions of a person.
    await team.ben.signIn(team.emails.ben);

    await app.done('DELETE', `/api/tokens/${eve.id}`);
    const late = await project.decide(team.ada, id, 'approve');
    expect([late.status, late.json.error]).toEqual([412, 'revision_conflict']);
    expect((await project.proposal(id)).status).toBe('outdated');
  });

  test('the entries of a decision name the flags of the proposal', async () => {
    const project = await GuardedProject.make(team);
    const { id } = (await project.propose(team.ben)).json;
    await project.decide(team.cleo, id, 'reject');

    const { entries } = await app.done('GET', `/api/audit?project=${project.name}&limit=1`);
    const [{ action, after }] = entries;
    expect([action, after.changes]).toEqual(['proposal.rejected', [{ key: FLAG }]]);
  });

  test('webhooks hear of a proposal, with a link to it', async () => {
    const project = await GuardedProject.make(team);
    const { id } = (await project.propose(team.ben)).json;
    const { entries } = await app.done('GET', `/api/audit?project=${project.name}&limit=1`);
    const [{ action, target, after, operation: seq }] = entries;
    expect([action, target, after.changes]).toEqual(['proposal.created', id, [{ key: FLAG }]]);

    const event = {
      id: 'e',
      action,
      environment: 'production',
      target,
      after: JSON.stringify(after),
      isCut: false,
    };
    const message = {
      messageId: 'm',
      seq,
      at: 0,
      actor: 'operator:ben@example.com',
      events: [event],
      omitted: 0,
    };
    const chat = messageBody(
      { format: 'slack', project: project.name, name: 'chat' },
      message,
      'https://flags.example',
    );
    expect(JSON.parse(chat).text).toEndWith(
      `proposal of ${FLAG} created in production\nhttps://flags.example/projects/${project.name}/proposals/${id}`,
    );
  });

  test('an approver who loses the right before the commit changes nothing', async () => {
    const project = await GuardedProject.make(team);
    const { id } = (await project.propose(team.ben)).json;
    const { operators } = await app.done('GET', '/api/operators');
    const cleo = operators.find(({ email }: { email: string }) => email === team.emails.cleo);
    const setCleo = (canChangeProtected: boolean) =>
      app.done('PATCH', `/api/operators/${cleo.id}`, { body: { canChangeProtected } });

    app.node.beforeCommit = async () => {
      app.node.beforeCommit = async () => {};
      await setCleo(false);
    };
    expect((await project.decide(team.cleo, id, 'approve')).status).toBe(401);
    expect([await project.isOn(), (await project.proposal(id)).status]).toEqual([false, 'open']);
    await setCleo(true);
    await team.cleo.signIn(team.emails.cleo);
  });

  test('a held proposal waits for a person, who may be its author', async () => {
    const project = await GuardedProject.make(team);
    const held = await team.ben.call('PATCH', `${project.state}?propose=hold`, { body: { enabled: true } });
    const { id } = held.json;
    expect((await project.decide(team.ben, id, 'apply')).json.error).toBe('approval_required');
    expect((await project.decide(team.cleo, id, 'approve')).json.status).toBe('approved');
    expect(await project.isOn()).toBe(false);
    expect((await project.decide(team.ben, id, 'apply')).json.status).toBe('applied');
    expect(await project.isOn()).toBe(true);
  });

  test('a proposal is rejected by another person, withdrawn by its author, or expires', async () => {
    const project = await GuardedProject.make(team);
    const ids = await Promise.all([1, 2, 3].map(async () => (await project.propose(team.dan)).json.id));
    const [rejected, withdrawn, expired] = ids as [string, string, string];
    expect((await project.decide(team.dan, rejected, 'reject')).status).toBe(403);
    expect((await project.decide(team.ben, rejected, 'reject')).json.status).toBe('rejected');
    expect((await project.decide(team.dan, withdrawn, 'withdraw')).json.status).toBe('withdrawn');

    app.node.now += 15 * 86_400_000;
    await runDueProposals(app.context);
    app.node.now -= 15 * 86_400_000;
    expect((await project.proposal(expired)).status).toBe('expired');
    expect(await project.isOn()).toBe(false);
  });
});
