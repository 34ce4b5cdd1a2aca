import type { TestApp } from '../management/api/test-app.ts';
import { join } from '../management/api/test-browser.ts';

const STATE = { enabled: true };
const LATER = '2100-01-01T00:00:00Z';
const PLAN = {
  environment: 'staging',
  steps: [
    { rolloutPct: 10, waitMinutes: 60 },
    { rolloutPct: 100, waitMinutes: 60 },
  ],
};

/** What a call changes, created for each operation. */
interface Place {
  readonly app: TestApp;
  /** The path of a project with the flags `a` and `b`, of which `b` is archived. */
  readonly path: string;
  readonly name: string;
  readonly seq: number;
  /** A name that is unique. */
  readonly fresh: string;
}

type Prepared = { readonly path: string; readonly body?: unknown };

/** Creates a project for a call; `fresh` is unique. */
export async function makePlace(app: TestApp, fresh: string): Promise<Place> {
  const { name, path } = await app.project();
  const states = { production: STATE, staging: STATE, development: STATE };
  await app.done('POST', `${path}/flags`, { body: { key: 'a', states } });
  await app.done('POST', `${path}/flags`, { body: { key: 'b' } });
  await app.done('POST', `${path}/flags/b/archive`);

  const reverted = { body: { value: 'reverted' } };
  const { seq } = await app.done('PATCH', `${path}/environments/production/flags/a`, reverted);
  await app.done('PATCH', `${path}/environments/staging/flags/a`, { body: { rolloutPct: 1 } });
  return { app, path, name, seq, fresh };
}

/** Creates a record and returns its id. */
async function made({ app }: Place, path: string, body: object): Promise<string> {
  return (await app.done('POST', path, { body })).id;
}

/** Lets a person join and returns the operator's path. */
async function joined({ app, fresh }: Place): Promise<string> {
  return `/api/operators/${(await join(app, { email: `${fresh}@example.com`, role: 'viewer' })).id}`;
}

const inState = ({ path }: Place) => `${path}/environments/production/flags/a`;
const HOOK = { name: 'hook', url: 'https://hooks.example/x', environments: ['production'] };
const hook = async ({ app, path }: Place) => {
  await app.done('POST', `${path}/webhooks`, { body: HOOK });
  return `${path}/webhooks/hook`;
};
const siemHook = ({ fresh }: Place) => ({ name: fresh, url: HOOK.url });
const siem = async (place: Place) => {
  await place.app.done('POST', '/api/webhooks', { body: siemHook(place) });
  return `/api/webhooks/${place.fresh}`;
};
const plan = async (place: Place) => {
  const { path } = place;
  return `${path}/rollouts/${await made(place, `${path}/rollouts`, { flag: 'a', ...PLAN })}`;
};

/** A call of each operation that changes something, which is carried out if the caller may. */
export const CALLS: Readonly<Record<string, (place: Place) => Prepared | Promise<Prepared>>> = {
  putFlagState: (place) => ({ path: inState(place), body: { enabled: false } }),
  patchFlagState: (place) => ({ path: inState(place), body: { enabled: false } }),
  deleteFlagState: (place) => ({ path: inState(place) }),
  changeFlagStates: ({ path }) => ({
    path: `${path}/environments/production/changes`,
    body: { changes: [{ key: 'a', state: null }] },
  }),
  copyFlagStates: ({ path }) => ({ path: `${path}/environments/staging/copy`, body: { from: 'production' } }),
  createFlag: ({ path }) => ({ path: `${path}/flags`, body: { key: 'c' } }),
  updateFlag: ({ path }) => ({ path: `${path}/flags/a`, body: { description: 'other' } }),
  deleteFlag: ({ path }) => ({ path: `${path}/flags/b` }),
  archiveFlag: ({ path }) => ({ path: `${path}/flags/a/archive` }),
  restoreFlag: ({ path }) => ({ path: `${path}/flags/b/restore` }),
  archiveFlags: ({ path }) => ({ path: `${path}/flags/archive`, body: { keys: ['a'] } }),
  revertChange: ({ seq }) => ({ path: `/api/changes/${seq}/revert`, body: {} }),
  importProject: ({ name }) => ({
    path: '/api/import',
    body: { halyard: 1, project: name, environments: [], flags: { d: {} } },
  }),
  createProject: ({ fresh }) => ({ path: '/api/projects', body: { name: fresh } }),
  updateProject: ({ path }) => ({ path, body: { usage: true } }),
  deleteProject: ({ path }) => ({ path }),
  createEnvironment: ({ path }) => ({ path: `${path}/environments`, body: { name: 'canary' } }),
  updateEnvironment: ({ path }) => ({ path: `${path}/environments/staging`, body: { protected: true } }),
  deleteEnvironment: ({ path }) => ({ path: `${path}/environments/development` }),
  publishEnvironment: ({ path }) => ({
    path: `${path}/environments/staging/publication`,
    body: { withoutKey: true },
  }),
  withdrawEnvironment: async ({ app, path }) => {
    const at = `${path}/environments/staging/publication`;
    await app.done('PUT', at, { body: { withoutKey: true } });
    return { path: at };
  },
  createProjectKey: ({ path }) => ({
    path: `${path}/keys`,
    body: { name: 'key', environments: ['staging'] },
  }),
  replaceProjectKey: async (place) => {
    const body = { name: 'key', environments: ['staging'] };
    return { path: `/api/keys/${await made(place, `${place.path}/keys`, body)}/replace`, body: {} };
  },
  revokeProjectKey: async (place) => {
    const body = { name: 'key', environments: ['staging'] };
    return { path: `/api/keys/${await made(place, `${place.path}/keys`, body)}` };
  },
  createRelayToken: ({ fresh }) => ({ path: '/api/relay-tokens', body: { name: fresh } }),
  revokeRelayToken: async (place) => ({
    path: `/api/relay-tokens/${await made(place, '/api/relay-tokens', { name: place.fresh })}`,
  }),
  createSchedule: ({ path }) => ({
    path: `${path}/schedules`,
    body: { environment: 'production', dueAt: LATER, changes: [{ key: 'a', state: STATE }] },
  }),
  cancelSchedule: async (place) => {
    const at = `${place.path}/schedules`;
    const changes = [{ key: 'a', state: STATE }];
    return { path: `${at}/${await made(place, at, { environment: 'production', dueAt: LATER, changes })}` };
  },
  startRolloutPlan: ({ path }) => ({ path: `${path}/rollouts`, body: { flag: 'a', ...PLAN } }),
  pauseRolloutPlan: async (place) => ({ path: `${await plan(place)}/pause` }),
  resumeRolloutPlan: async (place) => {
    const at = await plan(place);
    await place.app.done('POST', `${at}/pause`, { body: {} });
    return { path: `${at}/resume` };
  },
  advanceRolloutPlan: async (place) => ({ path: `${await plan(place)}/advance` }),
  stopRolloutPlan: async (place) => ({ path: `${await plan(place)}/stop` }),
  withdrawProposal: async ({ app, path, fresh }) => {
    // An environment requires approvals that people can give.
    await Promise.all(
      [1, 2].map((each) => join(app, { email: `${fresh}-${each}@example.com`, role: 'admin' })),
    );
    await app.done('PATCH', `${path}/environments/production`, { body: { approvals: 1 } });
    const target = `${path}/environments/production/flags/a?propose=true`;
    const { id } = await app.done('PATCH', target, { body: { value: 'proposed' } });
    return { path: `${path}/proposals/${id}/withdraw` };
  },
  reportCodeReferences: ({ path }) => ({
    path: `${path}/code-references`,
    body: { repository: 'r', commit: 'c', flags: [] },
  }),
  deleteCodeReferences: async ({ app, path }) => {
    const at = `${path}/code-references`;
    await app.call('PUT', at, { body: { repository: 'r', commit: 'c', flags: [] } });
    return { path: `${at}?repository=r` };
  },
  createWebhook: ({ path }) => ({ path: `${path}/webhooks`, body: HOOK }),
  updateWebhook: async (place) => ({ path: await hook(place), body: { status: 'paused' } }),
  rotateWebhook: async (place) => ({ path: `${await hook(place)}/rotate`, body: {} }),
  skipWebhookChange: async ({ app, path }) => {
    const { seq } = await app.done('POST', `${path}/webhooks`, { body: HOOK });
    return { path: `${path}/webhooks/hook/skip`, body: { seq } };
  },
  deleteWebhook: async (place) => ({ path: await hook(place) }),
  createInstallationWebhook: (place) => ({ path: '/api/webhooks', body: siemHook(place) }),
  updateInstallationWebhook: async (place) => ({ path: await siem(place), body: { status: 'paused' } }),
  rotateInstallationWebhook: async (place) => ({ path: `${await siem(place)}/rotate`, body: {} }),
  skipInstallationWebhookChange: async (place) => {
    const { seq } = await place.app.done('POST', '/api/webhooks', { body: siemHook(place) });
    return { path: `/api/webhooks/${place.fresh}/skip`, body: { seq } };
  },
  deleteInstallationWebhook: async (place) => ({ path: await siem(place) }),
  createAccessToken: ({ fresh }) => ({ path: '/api/tokens', body: { name: fresh } }),
  revokeAccessToken: async (place) => ({
    path: `/api/tokens/${await made(place, '/api/tokens', { name: place.fresh })}`,
  }),
  inviteOperator: ({ fresh }) => ({
    path: '/api/invitations',
    body: { email: `${fresh}@example.com`, role: 'admin' },
  }),
  revokeInvitation: async (place) => {
    const body = { email: `${place.fresh}@example.com`, role: 'viewer' };
    return { path: `/api/invitations/${await made(place, '/api/invitations', body)}` };
  },
  changeOperator: async (place) => ({ path: await joined(place), body: { role: 'admin' } }),
  removeOperator: async (place) => ({ path: await joined(place) }),
  resetPassword: async (place) => ({ path: `${await joined(place)}/reset` }),
};

/**
 * Operations without a commit that an author could lose: they read, send a message, need a session of their own, or make
 * sure that the author changes nothing. And decisions on proposals, which have tests of their own (nouns/proposals).
 */
export const OTHERS = [
  ...['diffProject', 'testWebhook', 'replayWebhook', 'changePassword', 'closeOwnReference'],
  ...['createOwnToken', 'revokeOwnToken', 'testInstallationWebhook', 'replayInstallationWebhook'],
  ...['approveProposal', 'applyProposal', 'rejectProposal', 'acknowledgeProposal'],
];
