import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { within } from '@halyard/testing';
import pino from 'pino';
import { Webhook as Verifier } from 'standardwebhooks';
import { SqlStore } from '../../storage/store.ts';
import { ENGINES, openTestStore, type TestEngine } from '../../storage/test-engines.ts';
import { TestApp } from '../api/test-app.ts';
import { runDueSchedules } from '../schedules/schedule-runner.ts';
import { ChangeMessageSchema } from './message-schema.ts';
import { Receiver } from './test-receiver.ts';
import { LEASE_MS, WEBHOOK_RETRIES, WebhookRunner } from './webhook-runner.ts';

setDefaultTimeout(60_000);

const HOUR_MS = 3_600_000;
const on = { enabled: true };
const off = { enabled: false };

describe.each(ENGINES)('webhooks on $name', (engine: TestEngine) => {
  let app: TestApp;
  let receiver: Receiver;
  let runners: WebhookRunner[] = [];
  beforeAll(async () => {
    const home = await openTestStore(engine);
    app = new TestApp({ ...home, store: new SqlStore(home.database, { now: () => app.node.now }) });
    receiver = new Receiver();
  });
  beforeEach(() => {
    // Verifiers compare the time with the real one.
    app.node.now = Date.now();
    receiver.forgetAnswers();
  });
  afterAll(async () => {
    await Promise.all(runners.map((runner) => runner.close()));
    receiver.stop();
    await app.close();
  });

  /** A node on the same database; `store`: over a connection of its own. */
  function node(store = app.context.store, random = () => 0.5): WebhookRunner {
    const runner = new WebhookRunner({
      context: { ...app.context, store },
      sender: app.webhooks,
      node: Bun.randomUUIDv7(),
      log: pino({ level: 'silent' }),
      isReady: () => true,
      random,
    });
    runners = [...runners, runner];
    return runner;
  }

  /** A project with a webhook to a path of the receiver, which has got the message of its own creation. */
  async function hooked(settings: object = {}) {
    const { name: project, path } = await app.project();
    const url = receiver.url(project);
    const made = await app.call('POST', `${path}/webhooks`, { body: { name: 'ci', url, ...settings } });
    expect([made.status, made.text]).toEqual([201, expect.stringContaining('whsec_')]);
    const runner = node();
    await runner.runOnce();
    receiver.messages(project).splice(0);
    const set = async (key: string, state: object, environment = 'production') => {
      const answer = await app.call('PUT', `${path}/environments/${environment}/flags/${key}`, {
        body: state,
      });
      return answer.json.seq as number;
    };
    const record = async () => (await app.call('GET', `${path}/webhooks/ci`)).json;
    const deliveries = async () => (await app.call('GET', `${path}/webhooks/ci/deliveries`)).json.deliveries;
    const secret = made.json.secret as string;
    return { project, path, runner, set, record, deliveries, secret, got: () => receiver.messages(project) };
  }

  test('a change arrives signed, with both states, its author and a link', async () => {
    const { project, path, runner, secret, set, got, deliveries } = await hooked();
    await set('checkout', off);
    const seq = await set('checkout', { enabled: true, value: 1.5 });
    await runner.runOnce();
    const [, message] = got();
    if (message === undefined) throw new Error('the message is missing');
    const id = message.headers['webhook-id'];
    expect(id).toStartWith(`chg_${seq}_`);
    expect(new Verifier(secret).verify(message.body, message.headers)).toEqual({
      type: 'change',
      timestamp: new Date(app.node.now).toISOString(),
      data: {
        ...{ seq, project, actor: 'token:admin' },
        url: `https://flags.example/projects/${project}/history?change=${seq}`,
        events: [
          {
            ...{ action: 'flag.changed', environment: 'production', target: 'checkout' },
            ...{ before: off, after: { enabled: true, value: 1.5 } },
          },
        ],
      },
    });
    expect(() => new Verifier(secret).verify(`${message.body} `, message.headers)).toThrow();
    expect(ChangeMessageSchema.strict().parse(JSON.parse(message.body))).toBeDefined();
    const [delivered] = await deliveries();
    expect(delivered).toMatchObject({ number: 3, seq, messageId: id, outcome: 'delivered', status: 200 });
    const list = await app.call('GET', `${path}/webhooks`);
    const audit = await app.call('GET', `/api/audit?project=${project}`);
    expect(list.text + audit.text).not.toContain(secret.slice(8));
  });

  test('changes of structure arrive too, in order, and large changes are cut', async () => {
    const { path, runner, got } = await hooked();
    await app.call('POST', `${path}/flags`, { body: { key: 'a' } });
    const changes = Array.from({ length: 120 }, (_, index) => ({ key: `f${index}`, state: on }));
    await app.call('POST', `${path}/environments/production/changes`, { body: { changes } });
    await app.call('POST', `${path}/flags/a/archive`);
    const key = await app.call('POST', `${path}/keys`, { body: { name: 'web', environments: ['staging'] } });
    await app.call('DELETE', `/api/keys/${key.json.id}`);
    await runner.runOnce();
    const all = got().map(({ body }) => JSON.parse(body).data);
    expect(all.map(({ events }) => events[0].action)).toEqual([
      ...['flag.created', 'flag.created', 'flag.archived', 'key.created', 'key.revoked'],
    ]);
    expect([all[1].events.length, all[1].omitted]).toEqual([100, 140]);
    expect(all.map(({ seq }) => seq)).toEqual(all.map(({ seq }) => seq).toSorted((a, b) => a - b));
    expect(JSON.stringify(all)).not.toContain('proj_live_');
    const value = 'x'.repeat(60_000);
    const heavy = Array.from({ length: 10 }, (_, index) => ({ key: `f${index}`, state: { ...on, value } }));
    await app.call('POST', `${path}/environments/production/changes`, { body: { changes: heavy } });
    await runner.runOnce();
    const cut = JSON.parse(got().at(-1)?.body ?? '').data.events;
    expect(cut.map((event: { truncated?: true }) => event.truncated ?? false)).toEqual([
      ...[false, false, false, false, true, true, true, true, true, true],
    ]);
  });

  test('a webhook can be limited to environments and events', async () => {
    const { path, runner, set, got, record } = await hooked({
      environments: ['production'],
      events: ['flag'],
    });
    await set('a', on, 'staging');
    await set('a', on);
    await app.call('POST', `${path}/keys`, { body: { name: 'web', environments: ['staging'] } });
    await runner.runOnce();
    const actions = got().map(({ body }) =>
      JSON.parse(body).data.events.map((event: { action: string }) => event.action),
    );
    // The flag was created with its first state; the flag itself belongs to no environment.
    expect(actions).toEqual([['flag.created'], ['flag.changed']]);
    expect((await record()).pendingSince).toBeUndefined();
  });

  test('chat programs get one text', async () => {
    const { runner, path, set, got, project, record } = await hooked({ format: 'slack' });
    await set('a', { enabled: true, value: '<b> & co', rolloutPct: 5 });
    await runner.runOnce();
    const { text } = JSON.parse(got()[0]?.body ?? '');
    expect(text).toBe(
      `token admin changed ${project}:\n• flag a created\n• a in production: absent → on, "&lt;b&gt; &amp; co", 5%\n` +
        `https://flags.example/projects/${project}/history?change=${(await record()).deliveredSeq}`,
    );
    const dueAt = new Date(app.node.now + HOUR_MS).toISOString();
    const later = { environment: 'production', dueAt, note: 'launch', changes: [{ key: 'a', state: off }] };
    await app.call('POST', `${path}/schedules`, { body: later });
    app.node.now += HOUR_MS;
    await runDueSchedules(app.context);
    await runner.runOnce();
    const [, created, ran] = got().map(({ body }) => JSON.parse(body).text.split('\n'));
    expect(created[1]).toBe('• schedule of a created in production');
    expect(ran.slice(0, -1)).toEqual([
      expect.stringMatching(/^token admin changed .+ \(Schedule .+: launch\):$/),
      '• a in production: on, "&lt;b&gt; &amp; co", 5% → off',
    ]);
    // The path of such an address is a secret.
    expect((await record()).url).toBe(`${receiver.origin}/…`);
  });

  const refusals: readonly [string, () => Response | Promise<Response>, number | undefined, string][] = [
    ['answers 500', () => new Response('out of order', { status: 500 }), 500, 'answered 500 instead of 2xx'],
    ['redirects', () => Response.redirect('https://example.com/'), 302, 'redirects are not followed'],
  ];
  test.each(refusals)('a receiver that %s gets the same message later', async (_, answer, status, error) => {
    const { project, runner, set, got, record, deliveries } = await hooked();
    receiver.answer(project, answer);
    const seq = await set('a', on);
    await set('b', on);
    await runner.runOnce();
    await runner.runOnce();
    expect(got()).toHaveLength(1);
    const [failed] = await deliveries();
    expect([failed.outcome, failed.status, failed.seq]).toEqual(['failed', status, seq]);
    expect(failed.error).toContain(error);
    const due = Date.parse((await record()).nextAttemptAt);
    expect(due).toBe(app.node.now + WEBHOOK_RETRIES.firstMs);
    receiver.answer(project, () => new Response());
    app.node.now = due;
    await runner.runOnce();
    const [first, again, next] = got();
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id'] ?? '');
    expect(again?.body).toBe(first?.body ?? '');
    expect([got().length, next?.body]).toEqual([3, expect.stringContaining('"target":"b"')]);
    expect(await record()).toMatchObject({ failures: 0, status: 'active' });
  });

  test('Retry-After is respected, and the pause doubles up to its limit', async () => {
    const { project, runner, set, record } = await hooked();
    receiver.answer(project, () => new Response('', { status: 429, headers: { 'Retry-After': '120' } }));
    await set('a', on);
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 11; attempt++) {
      await runner.runOnce();
      const due = Date.parse((await record()).nextAttemptAt);
      pauses.push((due - app.node.now) / 1000);
      app.node.now = due;
    }
    expect(pauses).toEqual([120, 120, 120, 120, 120, 160, 320, 640, 900, 900, 900]);
  });

  test('a pause that is no whole number of milliseconds is stored too', async () => {
    const { project, set, record, deliveries } = await hooked();
    app.node.now += LEASE_MS;
    receiver.answer(project, () => new Response('', { status: 500 }));
    await set('a', on);
    await node(undefined, () => 0.1234).runOnce();
    expect((await deliveries())[0]).toMatchObject({ outcome: 'failed', status: 500 });
    const { failures, nextAttemptAt } = await record();
    expect([failures, Date.parse(nextAttemptAt) - app.node.now]).toEqual([1, 4_247]);
  });

  test('after a day a change is given up, and after five days the webhook is disabled', async () => {
    const { project, path, runner, set, got, record, deliveries } = await hooked();
    receiver.answer(project, () => new Response('', { status: 503 }));
    await set('a', on);
    const last = await set('b', on);
    await runner.runOnce();
    app.node.now += 20 * HOUR_MS;
    const young = await set('c', on);
    await runner.runOnce();
    expect(await record()).toMatchObject({ givenUp: 0 });
    app.node.now += 5 * HOUR_MS;
    await runner.runOnce();
    expect(await record()).toMatchObject({ givenUp: 2, deliveredSeq: last, status: 'active' });
    expect((await deliveries())[0]).toMatchObject({ outcome: 'given-up', seq: last });
    app.node.now += 4 * 24 * HOUR_MS;
    await runner.runOnce();
    expect(await record()).toMatchObject({ status: 'disabled', reason: 'Every attempt failed for 5 days.' });
    const audit = await app.call('GET', `/api/audit?project=${project}&action=webhook.disabled`);
    expect(audit.json.entries).toMatchObject([{ actor: 'system', target: 'ci' }]);
    const seen = got().length;
    await runner.runOnce();
    expect(got()).toHaveLength(seen);
    // What was given up can be sent by hand.
    receiver.answer(project, () => new Response());
    const replayed = await app.call('POST', `${path}/webhooks/ci/replay`, { body: { seq: young } });
    expect(replayed.json).toMatchObject({ outcome: 'delivered', trigger: 'replay', seq: young });
    const resumed = await app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'active' } });
    expect(resumed.json).toMatchObject({ status: 'active', failures: 0 });
    expect(resumed.json.reason).toBeUndefined();
    const later = await set('d', on);
    await runner.runOnce();
    expect(await record()).toMatchObject({ deliveredSeq: later, givenUp: 3 });
  });

  test('two changes of a webhook at the same time are both kept', async () => {
    const { path, record } = await hooked();
    for (const [index, event] of ['key', 'schedule', 'rollout', 'project'].entries()) {
      const patch = (body: object) => app.call('PATCH', `${path}/webhooks/ci`, { body });
      const url = receiver.url(`round-${index}`);
      const answers = await Promise.all([patch({ url }), patch({ events: [event] })]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(await record()).toMatchObject({ url, events: [event] });
    }
  });

  test('the answer 410 disables at once; a webhook that is paused keeps what waits', async () => {
    const { project, path, runner, set, got, record } = await hooked();
    receiver.answer(project, () => new Response('', { status: 410 }));
    await set('a', on);
    await runner.runOnce();
    expect(await record()).toMatchObject({ status: 'disabled', reason: expect.stringContaining('410') });
    receiver.answer(project, () => new Response());
    await app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'active' } });
    await app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'paused' } });
    const waiting = await set('b', on);
    await runner.runOnce();
    expect(got()).toHaveLength(1);
    await app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'active' } });
    await runner.runOnce();
    expect(got().some(({ body }) => body.includes(`"seq":${waiting},`))).toBe(true);
    await app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'paused' } });
    await set('c', on);
    await app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'active', skipPending: true } });
    await runner.runOnce();
    expect(got().some(({ body }) => body.includes('"target":"c"'))).toBe(false);
    expect((await record()).pendingSince).toBeUndefined();
  });

  test('one node at a time delivers; when it is killed, the next one continues after the lease', async () => {
    const { project, set, got, record } = await hooked();
    app.node.now += LEASE_MS;
    const elsewhere = new SqlStore(await app.home.connect(), { now: app.context.now });
    // Both find it at once.
    await set('a', off);
    await Promise.all([node().runOnce(), node(elsewhere).runOnce(), node().runOnce()]);
    expect(got().splice(0)).toHaveLength(1);
    app.node.now += LEASE_MS;
    const [one, other] = [node(), node(elsewhere)];
    const { promise: hangs, resolve: release } = Promise.withResolvers<Response>();
    const { arrived } = receiver.answer(project, () => hangs);
    const seqs = [await set('a', on), await set('b', on), await set('c', on)];
    const stuck = one.runOnce();
    await within('the first node sends a message', arrived);
    await other.runOnce();
    expect(got()).toHaveLength(1);
    // The first node hangs for longer than its lease.
    app.node.now += LEASE_MS;
    receiver.answer(project, () => new Response());
    await other.runOnce();
    release(new Response());
    await stuck;
    await one.runOnce();
    const ids = got().map(({ headers }) => Number(headers['webhook-id']?.split('_')[1]));
    const [first = 0, ...rest] = seqs;
    expect(ids).toEqual([first, first, ...rest]);
    expect(await record()).toMatchObject({ deliveredSeq: seqs.at(-1) });
  });

  test('a node that stops ends its attempt at once, and the next one need not wait', async () => {
    const { project, set, got } = await hooked();
    app.node.now += LEASE_MS;
    const one = node();
    const { arrived } = receiver.answer(project, () => new Promise(() => {}));
    await set('a', on);
    const stuck = one.runOnce();
    await within('the first node sends the message', arrived);
    await within('the first node stops', one.close());
    await stuck;
    receiver.answer(project, () => new Response());
    await node().runOnce();
    const ids = got().map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });

  test('a receiver that never answers delays no other, and a started node delivers by itself', async () => {
    const slow = await hooked();
    const fast = await hooked();
    app.node.now += LEASE_MS;
    const { arrived: stuck } = receiver.answer(slow.project, () => new Promise(() => {}));
    const runner = node();
    const idOf = (name: string) =>
      app.home.store.read(async (reader) => (await reader.project(name))?.id ?? '');
    runner.start();
    await slow.set('a', on);
    runner.applied({ projectId: await idOf(slow.project) });
    await within('the slow receiver got its message', stuck);
    const { arrived } = receiver.answer(fast.project, () => new Response());
    await fast.set('a', on);
    runner.applied({ projectId: await idOf(fast.project) });
    await within('the other receiver got its message', arrived);
    await within('the node stops', runner.close());
  });

  test('a test message goes out at once and is written down', async () => {
    const { project, path, got, deliveries, secret } = await hooked();
    receiver.answer(project, () => new Response('welcome \0 here'));
    const { status, json } = await app.call('POST', `${path}/webhooks/ci/test`);
    expect([status, json.outcome, json.trigger, json.answer]).toEqual([
      ...[200, 'delivered', 'test', 'welcome  here'],
    ]);
    const [message] = got();
    expect(new Verifier(secret).verify(message?.body ?? '', message?.headers ?? {})).toMatchObject({
      type: 'ping',
      data: { project, webhook: 'ci' },
    });
    expect((await deliveries())[0]).toEqual(json);
  });

  test('after a rotation both secrets sign for a while', async () => {
    const { path, runner, secret, set, got } = await hooked();
    const rotated = await app.call('POST', `${path}/webhooks/ci/rotate`, {
      body: { overlapHours: 0.0512345 },
    });
    expect(rotated.json.secret).not.toBe(secret);
    const verify = async (with_: string) => {
      await set('a', { enabled: true, value: Math.random() });
      await runner.runOnce();
      const message = got().at(-1);
      return new Verifier(with_).verify(message?.body ?? '', message?.headers ?? {});
    };
    expect(await verify(secret)).toBeDefined();
    expect(await verify(rotated.json.secret)).toBeDefined();
    app.node.now += Math.ceil(0.0512345 * HOUR_MS);
    expect(await verify(rotated.json.secret)).toBeDefined();
    await expect(verify(secret)).rejects.toThrow('No matching signature');
  });

  test('only the last hundred attempts are kept, and deleting a project ends its webhooks', async () => {
    const { path, runner, set, deliveries } = await hooked();
    const numbers = async () => (await deliveries()).map(({ number }: { number: number }) => number);
    await set('a', on);
    await runner.runOnce();
    expect(await numbers()).toEqual([2, 1]);
    // Ninety-nine more would have come and gone.
    await app.home.database.query('UPDATE webhooks SET deliveries = 100 WHERE name = $1', ['ci']);
    await set('a', off);
    await runner.runOnce();
    expect(await numbers()).toEqual([101, 2]);
    expect((await app.call('DELETE', path)).status).toBe(200);
    await runner.runOnce();
    expect((await app.call('GET', `${path}/webhooks`)).status).toBe(404);
  });
});
