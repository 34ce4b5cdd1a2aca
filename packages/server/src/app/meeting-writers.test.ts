import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '@halyard/testing';
import { digestOf } from '../domain/secret.ts';
import { openTestApp, type TestAnswer, type TestApp } from '../management/api/test-app.ts';
import { join, PASSWORD, TestBrowser } from '../management/api/test-browser.ts';
import { insertAccessToken } from '../nouns/access-tokens/access-token-table.ts';
import {
  insertEnvironment,
  lockEnvironment,
  readEnvironment,
  readEnvironments,
  removeEnvironment,
} from '../nouns/environments/environment-table.ts';
import { readFlag, storeArchived, storeFlag } from '../nouns/flags/flag-table.ts';
import { readOpenInvitations, takeInvitation } from '../nouns/people/invitation-table.ts';
import { readOperator, storePassword } from '../nouns/people/operator-table.ts';
import { removeSessionsOf } from '../nouns/people/session-table.ts';
import { PasswordHashes } from '../nouns/people/sign-in.ts';
import { insertProject, lockProject, readProject } from '../nouns/projects/project-table.ts';
import { insertSchedule } from '../nouns/schedules/schedule-table.ts';
import { ENGINES } from '../storage/test-engines.ts';
import { ADA, makeEnvironment, makeProject, makeToken } from '../storage/test-records.ts';
import type { Tx } from '../storage/tx.ts';

setDefaultTimeout(60_000);

const OTHER_PASSWORD = 'another horse battery';

// On SQLite there is one writer at a time: only here can two requests meet.
describe.each(ENGINES.filter(({ name }) => name === 'postgres'))('two writers on $name', (engine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  /**
   * Sends a request in the middle of another writer's transaction, which continues once the request waits
   * for it. Returns the request's answer.
   */
  async function meet(
    send: () => Promise<TestAnswer>,
    before: (tx: Tx) => Promise<void>,
    after: (tx: Tx) => Promise<void> = async () => {},
  ): Promise<TestAnswer> {
    const { result } = await app.home.store.commit(ADA, async (tx) => {
      await before(tx);
      const answer = send();
      await someoneWaits(answer);
      await after(tx);
      return { answer };
    });
    return result.answer;
  }

  /** Resolves once a writer waits for a lock, or once the request was answered because it waited for none. */
  async function someoneWaits(answer: Promise<TestAnswer>): Promise<void> {
    let isAnswered = false;
    void answer.finally(() => {
      isAnswered = true;
    });
    const waiting = `SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    await until(
      'a writer waits for a lock, or the request is answered',
      async () => isAnswered || (await app.home.database.query(waiting)).length > 0,
    );
  }

  test('rejects a sign-in during a change of password: no session of the old password survives', async () => {
    const { id, email } = await join(app, { email: 'bob@example.com', role: 'viewer' });
    const hash = await new PasswordHashes().hash(OTHER_PASSWORD);
    const browser = new TestBrowser(app);
    const met = await meet(
      () => browser.signIn(email, PASSWORD),
      async (tx) => {
        await tx.lockPeople();
        const operator = await readOperator(tx, id);
        if (operator !== undefined) await storePassword(tx, operator, hash);
      },
      async (tx) => {
        const operator = await readOperator(tx, id);
        if (operator !== undefined) await removeSessionsOf(tx, operator);
      },
    );
    expect([met.status, met.json.error]).toEqual([401, 'sign_in_failed']);
    expect((await browser.call('GET', '/api/session')).json.signedIn).toBe(false);
  });

  test('rejects the second of two changes of password at the same moment', async () => {
    const { id, email, browser } = await join(app, { email: 'eve@example.com', role: 'viewer' });
    const hash = await new PasswordHashes().hash(OTHER_PASSWORD);
    const body = { current: PASSWORD, next: 'the battery of a thief' };
    const met = await meet(
      () => browser.call('POST', '/api/session/password', { body }),
      async (tx) => {
        await tx.lockPeople();
        const operator = await readOperator(tx, id);
        if (operator === undefined) return;
        await storePassword(tx, operator, hash);
        await removeSessionsOf(tx, operator, digestOf(browser.id ?? ''));
      },
    );
    expect([met.status, met.json.error]).toEqual([401, 'sign_in_failed']);
    expect((await new TestBrowser(app).signIn(email, OTHER_PASSWORD)).status).toBe(200);
  });

  test('rejects the revocation of a link that is being used', async () => {
    const body = { email: 'mia@example.com', role: 'viewer' };
    const { id } = (await app.call('POST', '/api/invitations', { body })).json;
    const met = await meet(
      () => app.call('DELETE', `/api/invitations/${id}`),
      async (tx) => {
        await tx.lockPeople();
        // Something for the log, as joining is: an operation without a deed leaves no trace.
        await insertProject(tx, makeProject('joined'));
        const link = (await readOpenInvitations(tx, Date.now())).find((one) => one.id === id);
        if (link !== undefined) await takeInvitation(tx, link, Date.now());
      },
    );
    expect([met.status, met.json?.error]).toEqual([404, 'not_found']);
  });

  test('a copy from an environment that is being deleted removes nothing', async () => {
    const { name, path } = await app.project();
    for (const environment of ['development', 'staging']) {
      await app.call('PUT', `${path}/environments/${environment}/flags/a`, { body: { enabled: true } });
    }
    const idOf = async (tx: Tx, environment: string) => {
      const project = await readProject(tx, name);
      const found = await readEnvironment(tx, project?.id ?? '', environment);
      if (found === undefined) throw new Error(`there is no ${environment}`);
      return found;
    };
    const met = await meet(
      () =>
        app.call('POST', `${path}/environments/staging/copy`, {
          body: { from: 'development', deletes: true },
        }),
      async (tx) => {
        await lockEnvironment(tx, (await idOf(tx, 'development')).id);
        await lockEnvironment(tx, (await idOf(tx, 'staging')).id);
      },
      async (tx) => {
        await removeEnvironment(tx, await idOf(tx, 'development'));
      },
    );
    expect([met.status, met.json.error]).toEqual([404, 'environment_not_found']);
    expect((await app.call('GET', `${path}/environments/staging/flags/a`)).status).toBe(200);
  });

  test('neither of two changes of one flag undoes the other, even in a project without environments', async () => {
    const declaration = { halyard: 1, project: 'bare', environments: [], flags: { a: {} } };
    await app.call('POST', '/api/import', { body: declaration });
    const met = await meet(
      () => app.call('PATCH', '/api/projects/bare/flags/a', { body: { tags: ['mine'] } }),
      async (tx) => {
        const project = await readProject(tx, 'bare');
        if (project === undefined) throw new Error('there is no project');
        await lockProject(tx, project.id);
        const flag = await readFlag(tx, project.id, 'a');
        if (flag !== undefined) await storeFlag(tx, { ...flag, description: 'yours' });
      },
    );
    expect([met.status, met.json]).toMatchObject([200, { description: 'yours', tags: ['mine'] }]);
  });

  test('one of two access tokens gets a name that both want', async () => {
    const create = () => app.call('POST', '/api/tokens', { body: { name: 'pipeline' } });
    const met = await meet(create, async (tx) => {
      await tx.lockPeople();
      await insertAccessToken(tx, { ...makeToken(), name: 'pipeline' }, 'd'.repeat(64));
    });
    expect([met.status, met.json.error]).toEqual([409, 'already_exists']);
  });

  test('one of two schedules gets the last free place', async () => {
    const { name, path } = await app.project();
    await app.call('POST', `${path}/flags`, { body: { key: 'a' } });
    const dueAt = Date.now() + 3_600_000;
    const insert = async (tx: Tx, count: number) => {
      const { project, environments } = await lockAllOf(tx, name);
      const environmentId = environments.find((one) => one.name === 'development')?.id ?? '';
      for (let made = 0; made < count; made++) {
        await insertSchedule(tx, {
          id: crypto.randomUUID(),
          projectId: project.id,
          environmentId,
          status: 'pending',
          dueAt,
          changes: '[{"key":"a","state":null}]',
          createdBy: ADA.name,
          createdAt: Date.now(),
        });
      }
    };
    await app.home.store.commit(ADA, (tx) => insert(tx, 999));
    const body = {
      environment: 'production',
      dueAt: new Date(dueAt).toISOString(),
      changes: [{ key: 'a', state: null }],
    };
    const met = await meet(
      () => app.call('POST', `${path}/schedules`, { body }),
      async (tx) => {
        const project = await readProject(tx, name);
        await lockProject(tx, project?.id ?? '');
      },
      (tx) => insert(tx, 1),
    );
    expect([met.status, met.json.error]).toEqual([400, 'invalid_argument']);
    expect(met.json.message).toContain('1000 pending schedules');
  });

  /** Locks a project as a writer of its flags does, and returns what it has. */
  async function lockAllOf(tx: Tx, name: string) {
    const project = await readProject(tx, name);
    if (project === undefined) throw new Error(`the project ${name} does not exist`);
    await lockProject(tx, project.id);
    const environments = await readEnvironments(tx, project.id);
    for (const { id } of environments.toSorted((a, b) => (a.id < b.id ? -1 : 1)))
      await lockEnvironment(tx, id);
    return { project, environments };
  }

  async function archive(tx: Tx, name: string, key: string): Promise<void> {
    const { project } = await lockAllOf(tx, name);
    const flag = await readFlag(tx, project.id, key);
    if (flag === undefined) throw new Error(`the flag ${key} does not exist`);
    await storeArchived(tx, flag, { at: Date.now(), states: new Map() });
  }

  test('a flag gets no state in an environment that is created while the flag is archived', async () => {
    const { name, path } = await app.project();
    await app.call('POST', `${path}/flags`, { body: { key: 'a' } });
    const met = await meet(
      async () => {
        await app.call('POST', `${path}/environments`, { body: { name: 'canary' } });
        return app.call('PUT', `${path}/environments/canary/flags/a`, { body: { enabled: true } });
      },
      (tx) => archive(tx, name, 'a'),
    );
    expect([met.status, met.json.error]).toEqual([409, 'flag_archived']);
  });

  test('a flag gets no state in an environment that an import creates while the flag is archived', async () => {
    const { name, path } = await app.project();
    await app.call('POST', `${path}/flags`, { body: { key: 'a' } });
    const body = {
      halyard: 1,
      project: name,
      environments: ['canary'],
      flags: { a: { environments: { canary: { enabled: true } } } },
    };
    const met = await meet(
      () => app.call('POST', '/api/import', { body }),
      (tx) => archive(tx, name, 'a'),
    );
    expect(met.json).toMatchObject({ kept: 1, changes: [] });
    expect((await app.call('GET', `${path}/flags/a`)).json.environments).toEqual({});
  });

  test('two environments that are created at the same moment get positions of their own', async () => {
    const { name, path } = await app.project();
    const met = await meet(
      () => app.call('POST', `${path}/environments`, { body: { name: 'canary' } }),
      async (tx) => {
        const { project, environments } = await lockAllOf(tx, name);
        const position = environments.length;
        await insertEnvironment(tx, { ...makeEnvironment(project, 'preview'), position });
      },
    );
    expect(met.status).toBe(201);
    const { environments } = (await app.call('GET', `${path}/environments`)).json;
    const positions = environments.map(({ position }: { position: number }) => position);
    expect(positions).toEqual([0, 1, 2, 3, 4]);
  });
});
