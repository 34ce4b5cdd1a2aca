import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestAnswer, type TestApp } from '../management/api/test-app.ts';
import { PASSWORD, TestBrowser } from '../management/api/test-browser.ts';
import { offerSetup } from '../nouns/people/invitations.ts';
import { ENGINES, type TestEngine } from '../storage/test-engines.ts';

setDefaultTimeout(60_000);

/** Operations that are no GET and change nothing, or answer for each item on its own. */
const EXCEPTIONS = [
  'diffProject',
  'inspectInvitation',
  'archiveFlags',
  'testWebhook',
  'replayWebhook',
  'testInstallationWebhook',
  'replayInstallationWebhook',
  'closeOwnReference',
  'reportCodeReferences',
  'deleteCodeReferences',
  // They need a second person; nouns/proposals has their tests.
  ...['approveProposal', 'applyProposal', 'rejectProposal', 'withdrawProposal', 'acknowledgeProposal'],
];

describe.each(ENGINES)('the answers of writes on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  test('every write that changes something answers with its seq', async () => {
    const called: string[] = [];
    /** Checks one answer against the audit log, whose newest entry belongs to it. */
    const written = async (id: string, answer: Promise<TestAnswer>) => {
      called.push(id);
      const { status, json } = await answer;
      const [newest] = (await app.call('GET', '/api/audit?limit=1')).json.entries;
      expect([id, Math.floor(status / 100), json?.seq]).toEqual([id, 2, newest.operation]);
      return json;
    };
    const { call } = { call: app.call.bind(app) };
    const project = '/api/projects/p';
    const staging = `${project}/environments/staging`;
    const on = { enabled: true };
    const dueAt = new Date(app.node.now + 3_600_000).toISOString();

    // People first: the first administrator is created while no operator exists.
    const setup = { token: (await offerSetup(app.context, 'test')).token, password: PASSWORD };
    const browser = new TestBrowser(app);
    const ada = { email: 'ada@example.com', name: 'Ada' };
    await written('setUp', browser.call('POST', '/api/setup', { body: { ...setup, ...ada } }));
    await written('signOut', browser.call('DELETE', '/api/session'));
    const { operator } = await written('signIn', browser.signIn(ada.email));
    const next = 'another horse battery';
    const change = { current: PASSWORD, next };
    await written('changePassword', browser.call('POST', '/api/session/password', { body: change }));
    const own = '/api/session/tokens';
    const mine = await written('createOwnToken', browser.call('POST', own, { body: { name: 'ada-cli' } }));
    await written('revokeOwnToken', browser.call('DELETE', `${own}/${mine.id}`));

    const invitation = { body: { email: 'bob@example.com', role: 'viewer' } };
    const invited = await written('inviteOperator', call('POST', '/api/invitations', invitation));
    const acceptance = { body: { token: invited.token, password: PASSWORD } };
    const bob = await written(
      'acceptInvitation',
      new TestBrowser(app).call('POST', '/api/invitations/accept', acceptance),
    );
    const reset = await written('resetPassword', call('POST', `/api/operators/${operator.id}/reset`));
    await written('revokeInvitation', call('DELETE', `/api/invitations/${reset.id}`));
    const bobs = `/api/operators/${bob.operator.id}`;
    await written('changeOperator', call('PATCH', bobs, { body: { name: 'Bob' } }));
    await written('removeOperator', call('DELETE', bobs));

    await written('createProject', call('POST', '/api/projects', { body: { name: 'p' } }));
    await written('updateProject', call('PATCH', project, { body: { usage: true } }));
    const environment = { body: { name: 'preview' } };
    await written('createEnvironment', call('POST', `${project}/environments`, environment));
    const preview = `${project}/environments/preview`;
    await written('updateEnvironment', call('PATCH', preview, { body: { color: 'violet' } }));

    await written('createFlag', call('POST', `${project}/flags`, { body: { key: 'a' } }));
    await written('updateFlag', call('PATCH', `${project}/flags/a`, { body: { owner: 'x' } }));
    await written('putFlagState', call('PUT', `${staging}/flags/a`, { body: on }));
    const patched = await written(
      'patchFlagState',
      call('PATCH', `${staging}/flags/a`, { body: { value: 1 } }),
    );
    await written('revertChange', call('POST', `/api/changes/${patched.seq}/revert`, { body: {} }));
    await written('copyFlagStates', call('POST', `${preview}/copy`, { body: { from: 'staging' } }));

    const changes = [{ key: 'a', state: { enabled: false } }];
    await written('changeFlagStates', call('POST', `${staging}/changes`, { body: { changes } }));
    const later = { environment: 'staging', dueAt, changes };
    const schedule = await written('createSchedule', call('POST', `${project}/schedules`, { body: later }));
    await written('cancelSchedule', call('DELETE', `${project}/schedules/${schedule.id}`));

    const steps = [10, 20, 30].map((rolloutPct) => ({ rolloutPct, waitMinutes: 60 }));
    const launch = { flag: 'a', environment: 'staging', steps };
    const plan = await written('startRolloutPlan', call('POST', `${project}/rollouts`, { body: launch }));
    const rollout = `${project}/rollouts/${plan.id}`;
    await written('pauseRolloutPlan', call('POST', `${rollout}/pause`));
    await written('resumeRolloutPlan', call('POST', `${rollout}/resume`));
    await written('advanceRolloutPlan', call('POST', `${rollout}/advance`));
    await written('stopRolloutPlan', call('POST', `${rollout}/stop`));

    await written('deleteFlagState', call('DELETE', `${staging}/flags/a`));
    await written('archiveFlag', call('POST', `${project}/flags/a/archive`));
    await written('restoreFlag', call('POST', `${project}/flags/a/restore`));
    await written('deleteFlag', call('DELETE', `${project}/flags/a?archive=true`));

    const declaration = { halyard: 1, project: 'p', environments: ['staging'], flags: { b: {} } };
    await written('importProject', call('POST', '/api/import', { body: declaration }));

    const key = { body: { name: 'k', environments: ['staging'] } };
    const { id: keyId } = await written('createProjectKey', call('POST', `${project}/keys`, key));
    await written('replaceProjectKey', call('POST', `/api/keys/${keyId}/replace`, { body: {} }));
    await written('revokeProjectKey', call('DELETE', `/api/keys/${keyId}`));

    const token = await written('createAccessToken', call('POST', '/api/tokens', { body: { name: 't' } }));
    await written('revokeAccessToken', call('DELETE', `/api/tokens/${token.id}`));
    const relay = { body: { name: 'r' } };
    const relayToken = await written('createRelayToken', call('POST', '/api/relay-tokens', relay));
    await written('revokeRelayToken', call('DELETE', `/api/relay-tokens/${relayToken.id}`));

    const hooks = `${project}/webhooks`;
    const hook = { body: { name: 'h', url: 'https://hook.example/' } };
    const { seq } = await written('createWebhook', call('POST', hooks, hook));
    await written('skipWebhookChange', call('POST', `${hooks}/h/skip`, { body: { seq } }));
    await written('updateWebhook', call('PATCH', `${hooks}/h`, { body: { format: 'slack' } }));
    await written('rotateWebhook', call('POST', `${hooks}/h/rotate`, { body: {} }));
    await written('deleteWebhook', call('DELETE', `${hooks}/h`));

    const siem = await written('createInstallationWebhook', call('POST', '/api/webhooks', hook));
    const skipped = { body: { seq: siem.seq } };
    await written('skipInstallationWebhookChange', call('POST', '/api/webhooks/h/skip', skipped));
    await written(
      'updateInstallationWebhook',
      call('PATCH', '/api/webhooks/h', { body: { status: 'paused' } }),
    );
    await written('rotateInstallationWebhook', call('POST', '/api/webhooks/h/rotate', { body: {} }));
    await written('deleteInstallationWebhook', call('DELETE', '/api/webhooks/h'));

    const publication = `${preview}/publication`;
    await written('publishEnvironment', call('PUT', publication, { body: { withoutKey: true } }));
    await written('withdrawEnvironment', call('DELETE', publication));
    await written('deleteEnvironment', call('DELETE', preview));
    await written('deleteProject', call('DELETE', project));

    const writes = (await app.operations())
      .filter(({ method }) => method !== 'GET')
      .map(({ described }) => described.operationId);
    expect(called.sort()).toEqual(writes.filter((id) => !EXCEPTIONS.includes(id)).sort());
  });
});
