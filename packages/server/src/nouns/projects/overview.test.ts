import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { openTestApp, type TestApp } from '../../management/api/test-app.ts';
import type { Queryable } from '../../storage/database.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { SqlDeliveryStore } from '../deliveries/delivery-table.ts';
import { HOURLY } from '../rollouts/test-plans.ts';
import { readFigures, readLastChanges } from './overview-query.ts';
import { readProjects } from './project-table.ts';

setDefaultTimeout(60_000);

describe.each(ENGINES)('the overview on $name', (engine: TestEngine) => {
  let app: TestApp;
  beforeAll(async () => {
    app = await openTestApp(engine);
  });
  afterAll(() => app.close());

  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of every shape.
  const figuresOf = async (name: string, token?: string): Promise<any> => {
    const { json } = await app.call('GET', '/api/overview', token === undefined ? {} : { token });
    return json.projects.find((each: { name: string }) => each.name === name);
  };

  test('shows what a project has and what goes on in it', async () => {
    const { name, path } = await app.project();
    const production = `${path}/environments/production`;
    expect(await figuresOf(name)).toMatchObject({
      flags: 0,
      environments: 3,
      streams: 0,
      failingWebhooks: 0,
      lastChange: { action: 'environment.created' },
    });

    for (const key of ['a', 'b', 'gone'])
      await app.call('PUT', `${production}/flags/${key}`, {
        body: { enabled: key !== 'b', value: 'x'.repeat(500) },
      });
    await app.call('POST', `${path}/flags/gone/archive`);
    await app.call('DELETE', `${path}/environments/development`);
    await app.call('POST', `${path}/webhooks`, { body: { name: 'chat', url: 'https://chat.example/' } });
    await app.home.database.query(`UPDATE webhooks SET failures = 3 WHERE name = 'chat'`);
    const plan = { flag: 'b', environment: 'production', steps: HOURLY };
    await app.call('POST', `${path}/rollouts`, { body: plan });

    const [environment] = await app.home.database.query<{ id: string }>(
      `SELECT environments.id FROM environments JOIN projects ON projects.id = project_id
        WHERE projects.name = $1 AND environments.name = 'production'`,
      [name],
    );
    const presence = new SqlDeliveryStore(app.home.database);
    const streams = [{ environmentId: environment?.id ?? '', keyId: 'k', streams: 2 }];
    await presence.savePresence(
      [
        { node: 'one', streams },
        { node: 'two', streams },
      ],
      app.node.now,
    );

    await app.call('PATCH', `${production}/flags/a`, { body: { enabled: false } });
    expect(await figuresOf(name)).toEqual({
      name,
      createdAt: expect.any(String),
      flags: 2,
      environments: 2,
      streams: 4,
      runningPlans: 1,
      waitingProposals: 0,
      failingWebhooks: 1,
      lastChange: {
        seq: expect.any(Number),
        at: expect.any(String),
        actor: expect.any(String),
        action: 'flag.changed',
        target: 'a',
        environment: 'production',
        before: { enabled: true },
        after: { enabled: false },
        alike: 1,
      },
    });

    // One that waits, and one that has ended; to propose takes people, who have tests of their own.
    const insert = `INSERT INTO proposals (id, project_id, environments, operation, request, effects, author, person,
        required, hold, approvals, status, created_at, expires_at, settled_at)
      SELECT $1, id, '[]', 'o', '{}', '[]', 'a', NULL, 1, 0, '[]', 'open', 1, 2, $2 FROM projects WHERE name = $3`;
    await app.home.database.query(insert, [`${name}-waits`, null, name]);
    await app.home.database.query(insert, [`${name}-ended`, 3, name]);
    expect((await figuresOf(name)).waitingProposals).toBe(1);

    const changes = ['a', 'b'].map((key) => ({ key, state: { enabled: true } }));
    await app.call('POST', `${path}/environments/staging/changes`, { body: { changes } });
    expect((await figuresOf(name)).lastChange.alike).toBe(2);
  });

  test('shows only projects of the caller, and failing webhooks only to their administrators', async () => {
    const [mine, seen, hidden] = [await app.project(), await app.project(), await app.project()];
    const projects = [
      { project: mine.name, role: 'admin' },
      { project: seen.name, role: 'viewer' },
    ];
    const { token } = (await app.call('POST', '/api/tokens', { body: { name: 'some', projects } })).json;

    expect(await figuresOf(hidden.name, token)).toBeUndefined();
    expect((await figuresOf(mine.name, token)).failingWebhooks).toBe(0);
    expect(await figuresOf(seen.name, token)).not.toHaveProperty('failingWebhooks');
    // The newest entry of a project is never one about people.
    expect((await figuresOf(seen.name, token)).lastChange.action).toBe('environment.created');
  });

  test('takes as many statements for all projects as for one', async () => {
    const projects = await readProjects(app.home.database);
    expect(projects.length).toBeGreaterThan(3);
    let count = 0;
    const db: Queryable = {
      query: (text, parameters) => {
        count++;
        return app.home.database.query(text, parameters);
      },
    };
    expect((await readFigures(db, projects, 0)).size).toBe(projects.length);
    expect((await readLastChanges(db, projects)).size).toBe(projects.length);
    expect(count).toBe(2);
  });
});
