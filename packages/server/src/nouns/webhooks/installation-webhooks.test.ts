import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Webhook as Verifier } from 'standardwebhooks';
import { TestApp } from '../../management/api/test-app.ts';
import { MIGRATIONS } from '../../storage/migrations.ts';
import { migrate } from '../../storage/schema.ts';
import { SqlStore } from '../../storage/store.ts';
import { ENGINES, openTestStore, type TestEngine } from '../../storage/test-engines.ts';
import { ADA, seed } from '../../storage/test-records.ts';
import { insertDelivery, readDeliveries } from './delivery-table.ts';
import { AuditMessageSchema } from './message-schema.ts';
import { sharedWebhooks } from './test-webhooks.ts';
import { insertWebhook, readTarget } from './webhook-table.ts';

setDefaultTimeout(60_000);

/** The migration that lets webhooks be without a project. */
const BEFORE = MIGRATIONS.findIndex((step) => JSON.stringify(step).includes('webhooks_2'));

describe.each(ENGINES)('webhooks of the installation on $name', (engine: TestEngine) => {
  const shared = sharedWebhooks(engine);

  test('S24.7 get every entry, those about people and tokens too, signed, in order, and again after a failure', async () => {
    const { app, receiver } = shared;
    const { project, path, runner, got } = await shared.hooked();
    const body = { name: 'siem', url: receiver.url('siem') };
    const { secret, seq: made } = await app.done('POST', '/api/webhooks', { body });

    receiver.answer('siem', () => new Response('later', { status: 503 }));
    const token = await app.done('POST', '/api/tokens', { body: { name: 'bot', role: 'viewer' } });
    await app.done('POST', '/api/invitations', { body: { email: 'bob@example.com', role: 'viewer' } });
    await app.done('POST', `${path}/flags`, { body: { key: 'a' }, headers: { 'X-Change-Note': 'why' } });
    await runner.runOnce();
    receiver.forgetAnswers();
    app.node.now += 60_000;
    await runner.runOnce();

    const [failed, ...delivered] = receiver.messages('siem');
    const bodies = delivered.map((message) => {
      expect(() => new Verifier(secret).verify(message.body, message.headers)).not.toThrow();
      return AuditMessageSchema.strict().parse(JSON.parse(message.body));
    });
    expect(failed?.headers['webhook-id']).toBe(delivered[0]?.headers['webhook-id'] ?? '');
    expect(bodies.map(({ data }) => data.events.map(({ action }) => action))).toEqual([
      ['webhook.created'],
      ['token.created'],
      ['operator.invited'],
      ['flag.created'],
    ]);
    expect(bodies[0]?.data.seq).toBe(made);
    expect(bodies[3]?.data).toMatchObject({
      actor: 'token:admin',
      note: 'why',
      events: [{ project, target: 'a' }],
    });
    expect(bodies[1]?.data.events[0]).toMatchObject({
      target: token.id,
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });

    // That of a project gets nothing of it, and the one of the installation is in no project.
    expect(got().map((message) => JSON.parse(message.body).data.events[0].action)).toEqual(['flag.created']);
    expect((await app.call('GET', `${path}/webhooks`)).json.webhooks).toHaveLength(1);
    expect((await app.call('GET', '/api/webhooks/siem')).json).toMatchObject({
      pendingCount: 0,
      failures: 0,
    });
    expect((await app.call('GET', '/api/webhooks/siem/deliveries')).json.deliveries).toHaveLength(5);
    const ping = await app.done('POST', '/api/webhooks/siem/test');
    expect(ping).toMatchObject({ trigger: 'test', outcome: 'delivered' });
    await app.done('DELETE', '/api/webhooks/siem');
  });

  test('S24.7 belong to administrators of all projects, have unique names, and take no filter', async () => {
    const { app, receiver } = shared;
    const { name } = await app.project();
    const rights = { role: 'none', projects: [{ project: name, role: 'admin' }] };
    const { token } = await app.done('POST', '/api/tokens', { body: { name, ...rights } });
    expect((await app.call('GET', '/api/webhooks', { token })).status).toBe(403);

    const url = receiver.url('other');
    await app.done('POST', '/api/webhooks', { body: { name: 'other', url } });
    const again = await app.call('POST', '/api/webhooks', { body: { name: 'other', url } });
    expect([again.status, again.json.error]).toEqual([409, 'already_exists']);
    for (const filter of [{ events: ['flag'] }, { environments: ['production'] }, { format: 'slack' }]) {
      const refused = await app.call('PATCH', '/api/webhooks/other', { body: filter });
      expect([refused.status, refused.json.error]).toEqual([400, 'invalid_argument']);
    }
    // The receiver is gone for good.
    receiver.answer('other', () => new Response('gone', { status: 410 }));
    await shared.node().runOnce();
    expect((await app.call('GET', '/api/webhooks/other')).json).toMatchObject({ status: 'disabled' });
  });

  test('two nodes that add webhooks at the same moment do not exceed the limit', async () => {
    const { app } = shared;
    const database = await app.home.connect();
    const other = new TestApp({ ...app.home, database, store: new SqlStore(database) });
    const before = (await app.call('GET', '/api/webhooks')).json.webhooks.length;
    const add = (index: number) => {
      const body = { name: `limit-${index}`, url: 'https://receiver.example/' };
      return [app, other][index % 2]?.call('POST', '/api/webhooks', { body });
    };
    const answers = await Promise.all(Array.from({ length: 24 }, (_, index) => add(index)));
    expect(answers.filter((answer) => answer?.status === 201)).toHaveLength(20 - before);
    for (const { name } of (await app.call('GET', '/api/webhooks')).json.webhooks)
      await app.done('DELETE', `/api/webhooks/${name}`);
  });

  test('webhooks of projects are as they were after the migration, and still end with their project', async () => {
    await using old = await engine.create();
    const database = await old.connect();
    await migrate(database, { upTo: BEFORE });
    await using current = await openTestStore(engine);
    const { project } = await seed(current.store);

    const settings = {
      url: 'https://receiver.example/',
      format: 'json',
      environments: [],
      events: [],
    } as const;
    await database.query('INSERT INTO projects (id, name, created_at) VALUES ($1, $2, 1)', [project.id, 'p']);
    await database.query(
      `INSERT INTO webhooks (id, project_id, name, url, format, environments, events, secret, status, position,
        deliveries, given_up, failures, created_at) VALUES ('w', $1, 'w', $2, 'json', '[]', '[]', 's', 'active', 7, 3, 2, 1, 5)`,
      [project.id, settings.url],
    );
    await database.query(
      `INSERT INTO webhook_deliveries (webhook_id, number, message_id, cause, outcome, at, duration_ms)
        VALUES ('w', 3, 'm', 'test', 'delivered', 6, 4)`,
    );
    await migrate(database);
    expect(await readTarget(database, 'w')).toMatchObject({
      projectId: project.id,
      cursor: 7,
      givenUp: 2,
      secret: 's',
    });
    expect(await readDeliveries(database, 'w')).toMatchObject([{ number: 3, messageId: 'm', durationMs: 4 }]);
    await database.query('DELETE FROM projects WHERE id = $1', [project.id]);
    for (const table of ['webhooks', 'webhook_deliveries'])
      expect(await database.query(`SELECT * FROM ${table}`)).toEqual([]);

    // The references of what was made again still hold.
    const webhook = { ...settings, id: 'i', projectId: '', name: 'i', createdAt: 0 };
    await current.store.commit(ADA, (tx) => insertWebhook(tx, webhook, 'secret'));
    const attempt = { messageId: 'm', trigger: 'test', outcome: 'delivered', at: 0, durationMs: 1 } as const;
    await current.store.unlogged((tx) => insertDelivery(tx, 'i', attempt));
    await current.database.query(`DELETE FROM webhooks WHERE id = 'i'`);
    expect(await current.database.query('SELECT * FROM webhook_deliveries')).toEqual([]);
  });
});
