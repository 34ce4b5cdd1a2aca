import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../management/api/test-app.ts';
import type { Queryable } from '../storage/database.ts';
import { ENGINES } from '../storage/test-engines.ts';

setDefaultTimeout(60_000);

let app: TestApp;
/** Runs once, between the authentication of a request and its operation. */
let onAuthenticated: (() => Promise<void>) | undefined;

beforeAll(async () => {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error('the tests have no engine');
  app = await openTestApp(engine);
  const { store } = app.home;
  const read = store.read.bind(store);
  store.read = async <T>(work: (db: Queryable) => Promise<T>): Promise<T> => {
    const result = await read(work);
    const next = onAuthenticated;
    onAuthenticated = undefined;
    await next?.();
    return result;
  };
});
afterAll(() => app.close());

const PROJECT = '/api/projects/shop';

const made = (path: string, body: object) => app.done('POST', path, { body });

async function createProject(): Promise<void> {
  await made('/api/projects', { name: 'shop' });
  await made(`${PROJECT}/flags`, { key: 'flag', states: { production: { enabled: true } } });
  await made(`${PROJECT}/webhooks`, { name: 'hook', url: 'https://127.0.0.1/' });
}

/** Deletes the project, and creates another one with its name and the same contents. */
async function replaceProject(): Promise<void> {
  expect((await app.call('DELETE', PROJECT)).status).toBe(200);
  await createProject();
}

const STATE = { enabled: false };
const LATER = '2100-01-01T00:00:00Z';

/** What the operations need that refuse an empty body, or none. */
const BODIES: Readonly<Record<string, object>> = {
  updateProject: { usage: true },
  createEnvironment: { name: 'extra' },
  publishEnvironment: { withoutKey: true },
  createFlag: { key: 'another' },
  archiveFlags: { keys: ['flag'] },
  putFlagState: STATE,
  patchFlagState: STATE,
  changeFlagStates: { changes: [{ key: 'flag', state: STATE }] },
  copyFlagStates: { from: 'staging' },
  createProjectKey: { name: 'a key', environments: ['production'] },
  createSchedule: {
    environment: 'production',
    dueAt: LATER,
    changes: [{ key: 'flag', state: STATE }],
  },
  startRolloutPlan: {
    flag: 'flag',
    environment: 'production',
    steps: [{ rolloutPct: 5 }, { rolloutPct: 50, waitMinutes: 5 }],
  },
  reportCodeReferences: { repository: 'r', commit: 'c', flags: [] },
  createWebhook: { name: 'another', url: 'https://127.0.0.1/' },
  replayWebhook: { seq: 1 },
  skipWebhookChange: { seq: 1 },
};

const QUERIES: Readonly<Record<string, string>> = {
  getRecentReads: '?keys=flag',
  compareEnvironments: '?from=staging&to=production',
  deleteCodeReferences: '?repository=r',
};

const PARAMETERS: Readonly<Record<string, string>> = {
  '{project}': 'shop',
  '{environment}': 'production',
  '{key}': 'flag',
  '{webhook}': 'hook',
  '{id}': 'unknown',
};

test('a role in a deleted project does not count in a new project of its name', async () => {
  const operations = (await app.operations()).filter(
    ({ described: { operationId: id, 'x-scope': scope } }) =>
      // The stream is opened by the read plane: see environment-stream.test.ts.
      scope === 'project' && id !== 'streamEnvironment',
  );
  expect(operations.length).toBeGreaterThan(35);
  await createProject();
  const wrong: unknown[] = [];
  for (const [index, { method, path, described }] of operations.entries()) {
    const { operationId: id, 'x-role': needed } = described;
    const { token } = await made('/api/tokens', {
      name: `token ${index}`,
      // A role for all projects that does not reach does not open the new one either.
      role: needed === 'viewer' ? 'none' : 'viewer',
      projects: [{ project: 'shop', role: 'admin' }],
    });
    const url = path.replaceAll(/\{\w+\}/g, (name) => PARAMETERS[name] ?? name);
    const body = method === 'GET' || method === 'DELETE' ? undefined : (BODIES[id] ?? {});
    const query = QUERIES[id] ?? '';
    onAuthenticated = replaceProject;
    const { status, json } = await app.call(method, url + query, { token, ...(body && { body }) });
    expect(onAuthenticated).toBeUndefined();
    if (status !== 403 && json?.error !== 'project_not_found') wrong.push([id, status, json?.message]);
  }
  expect(wrong).toEqual([]);
});
