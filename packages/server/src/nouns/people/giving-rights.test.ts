import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import { join, TestBrowser, type TestOperator } from '../../management/api/test-browser.ts';
import { ENGINES } from '../../storage/test-engines.ts';
import { runDueSchedules } from '../schedules/schedule-runner.ts';

setDefaultTimeout(60_000);

const ours = [{ project: 'ours', role: 'admin' }];

let app: TestApp;
/** The tokens of an administrator of the project "ours", and of a planner of all projects. */
let ofOurs: string;
let planner: string;
let count = 0;

const made = (path: string, body: object) => app.done('POST', path, { body });

beforeAll(async () => {
  const [engine] = ENGINES;
  if (engine === undefined) throw new Error('the tests have no engine');
  app = await openTestApp(engine);
  for (const project of ['ours', 'theirs']) {
    await made('/api/projects', { name: project });
    const states = { staging: { enabled: true }, production: { enabled: true } };
    await made(`/api/projects/${project}/flags`, { key: `flag-of-${project}`, states });
  }
  ofOurs = (await made('/api/tokens', { name: 'admin of ours', role: 'none', projects: ours })).token;
  planner = (await made('/api/tokens', { name: 'planner of all', role: 'admin', only: 'plan' })).token;
});
afterAll(() => app.close());

describe('rights', () => {
  /** A person with rights, signed in. */
  async function person(rights: object): Promise<TestOperator> {
    return join(app, { email: `person-${++count}@example.com`, ...rights });
  }

  test('are given by administrators of the place alone, and never beyond their own', async () => {
    const refused: readonly (readonly [object, number])[] = [
      [{ role: 'viewer' }, 403],
      [{ role: 'none', canChangeProtected: true }, 403],
      [{ projects: [{ project: 'theirs', role: 'viewer' }] }, 404],
      [{ projects: [...ours, { project: 'theirs', role: 'viewer' }] }, 404],
      [{ projects: [...ours, ...ours] }, 400],
      [{ role: 'none' }, 400],
    ];
    for (const [rights, status] of refused) {
      const body = { role: 'none', ...rights };
      const made = await app.call('POST', '/api/tokens', { token: ofOurs, body: { name: 'more', ...body } });
      expect([rights, made.status]).toEqual([rights, status]);
      const email = 'more@example.com';
      const invited = await app.call('POST', '/api/invitations', { token: ofOurs, body: { email, ...body } });
      expect([rights, invited.status]).toEqual([rights, status]);
    }
    const planned = await app.call('POST', '/api/tokens', { token: planner, body: { name: 'more' } });
    expect(planned.json.message).toContain('only reads and plans imports');
  });

  test('an administrator of a project changes the roles there, and leaves the others', async () => {
    const { id } = await person({ projects: [{ project: 'theirs', role: 'editor' }] });
    const change = (body: object) => app.call('PATCH', `/api/operators/${id}`, { token: ofOurs, body });
    const seen = await Promise.all([change({}), app.call('PATCH', `/api/operators/${id}`, { body: {} })]);
    // Only administrators of all projects learn when a person was last seen.
    expect(seen.map(({ json }) => 'lastSeenAt' in json)).toEqual([false, true]);
    expect((await change({ projects: ours })).json.projects).toEqual([
      { project: 'ours', role: 'admin', canChangeProtected: false },
    ]);
    for (const body of [{ name: 'Other' }, { role: 'viewer' }]) expect((await change(body)).status).toBe(403);
    const all = (await app.call('GET', '/api/operators')).json.operators;
    const found = all.find((each: { id: string }) => each.id === id);
    expect(found.projects.map((each: { project: string }) => each.project)).toEqual(['ours', 'theirs']);
  });

  test('a role in a project counts at once in the sessions of its holder, and signs no one out', async () => {
    const { id, browser } = await person({ projects: [{ project: 'theirs', role: 'viewer' }] });
    const set = async () => {
      const path = '/api/projects/ours/environments/staging/flags/flag-of-ours';
      return (await browser.call('PATCH', path, { body: { enabled: true } })).status;
    };
    const change = async (body: object, token?: string) => {
      const request = token === undefined ? { body } : { body, token };
      expect((await app.call('PATCH', `/api/operators/${id}`, request)).status).toBe(200);
    };
    expect(await set()).toBe(404);
    await change({ projects: [{ project: 'ours', role: 'editor' }] }, ofOurs);
    expect(await set()).toBe(200);
    await change({ projects: [{ project: 'ours', role: 'viewer' }] }, ofOurs);
    expect(await set()).toBe(403);
    await change({ projects: [] }, ofOurs);
    expect(await set()).toBe(404);
    // Administrators of all projects do sign out, by a new role for all projects.
    await change({ role: 'viewer' });
    expect(await set()).toBe(401);
  });

  test('an operator who loses a project loses the links they created there', async () => {
    const { id, browser } = await person({ projects: ours });
    const email = `guest-${++count}@example.com`;
    const projects = [{ project: 'ours', role: 'viewer' }];
    const { json } = await browser.call('POST', '/api/invitations', { body: { email, projects } });
    expect(json.projects).toEqual([{ project: 'ours', role: 'viewer', canChangeProtected: false }]);
    await app.call('PATCH', `/api/operators/${id}`, { body: { projects } });
    // A password link is for administrators of all projects alone, even if its person is only in one.
    const colleague = await person({ projects });
    const chief = await person({ role: 'admin' });
    // The last administrator could not be demoted.
    await person({ role: 'admin' });
    const reset = await chief.browser.call('POST', `/api/operators/${colleague.id}/reset`);
    const lowered = { body: { role: 'none', projects: ours } };
    expect((await app.call('PATCH', `/api/operators/${chief.id}`, lowered)).status).toBe(200);
    for (const { token } of [json, reset.json]) {
      const link = { body: { token } };
      const inspected = await new TestBrowser(app).call('POST', '/api/invitations/inspect', link);
      expect(inspected.json.error).toBe('invitation_invalid');
    }
  });

  test('an invitation replaces only those that its creator could revoke', async () => {
    const email = `guest-${++count}@example.com`;
    const projects = [{ project: 'ours', role: 'viewer' }];
    const first = await made('/api/invitations', { email, role: 'editor' });
    const offered = [first];
    for (const _ of [1, 2])
      offered.push(
        (await app.call('POST', '/api/invitations', { token: ofOurs, body: { email, projects } })).json,
      );
    const guest = new TestBrowser(app);
    const inspect = async (link: { readonly token: string }) =>
      (await guest.call('POST', '/api/invitations/inspect', { body: { token: link.token } })).status;
    expect(await Promise.all(offered.map(inspect))).toEqual([200, 410, 200]);
    await made('/api/invitations', { email, role: 'viewer' });
    expect(await Promise.all(offered.map(inspect))).toEqual([410, 410, 410]);
  });

  test('a role for all projects and one in a project count together', async () => {
    const { browser } = await person({ role: 'viewer', projects: [{ project: 'ours', role: 'editor' }] });
    const set = (project: string, environment: string) =>
      browser.call('PATCH', `/api/projects/${project}/environments/${environment}/flags/flag-of-${project}`, {
        body: { enabled: true },
      });
    expect((await set('ours', 'staging')).status).toBe(200);
    expect((await set('theirs', 'staging')).json.error).toBe('forbidden');
    expect((await set('ours', 'production')).json.message).toContain('you may not change it');
    const { browser: trusted } = await person({
      projects: [{ project: 'ours', role: 'editor', canChangeProtected: true }],
    });
    const path = '/api/projects/ours/environments/production/flags/flag-of-ours';
    expect((await trusted.call('PATCH', path, { body: { enabled: true } })).json.error).toBe(
      'confirmation_required',
    );
  });

  test('a person without any role gets empty lists', async () => {
    const { id, browser } = await person({ projects: ours });
    await app.call('PATCH', `/api/operators/${id}`, { body: { projects: [] } });
    for (const [path, list] of [
      ['/api/projects', 'projects'],
      ['/api/audit', 'entries'],
      ['/api/search?q=flag', 'results'],
    ] as const)
      expect((await browser.call('GET', path)).json[list]).toEqual([]);
    const { operators } = (await browser.call('GET', '/api/operators')).json;
    expect(operators.map((each: { id: string }) => each.id)).toEqual([id]);
  });

  test('a schedule runs with the rights of its author in that project', async () => {
    const { id, browser } = await person({ projects: [{ project: 'ours', role: 'editor' }] });
    const dueAt = new Date(app.node.now + 60_000).toISOString();
    const changes = [{ key: 'flag-of-ours', patch: { enabled: false } }];
    const body = { environment: 'staging', dueAt, changes };
    const scheduled = await browser.call('POST', '/api/projects/ours/schedules', { body });
    expect(scheduled.status).toBe(201);
    await app.call('PATCH', `/api/operators/${id}`, { body: { projects: [] } });
    app.node.now += 60_000;
    const { settled } = await runDueSchedules(app.context);
    expect(settled).toContainEqual({ id: scheduled.json.id, status: 'failed' });
  });

  test('a token is an editor for 90 days by default', async () => {
    const { json } = await app.call('POST', '/api/tokens', { body: { name: 'default' } });
    expect([json.role, json.canChangeProtected, json.only]).toEqual(['editor', false, undefined]);
    expect(Date.parse(json.expiresAt) - app.node.now).toBe(90 * 86_400_000);
    const eternal = await app.call('POST', '/api/tokens', { body: { name: 'eternal', expiresAt: null } });
    expect(eternal.json.expiresAt).toBeUndefined();
  });
});
