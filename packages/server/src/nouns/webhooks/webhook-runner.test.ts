import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { within } from '@halyard/testing';
import { HOUR_MS } from '../../domain/clock.ts';
import { SqlStore } from '../../storage/store.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { readProject } from '../projects/project-table.ts';
import { WEBHOOK_RETRIES } from './pace.ts';
import { sharedWebhooks } from './test-webhooks.ts';
import { LEASE_MS } from './webhook.ts';

setDefaultTimeout(60_000);

const on = { enabled: true };
const off = { enabled: false };

describe.each(ENGINES)('the delivery of webhooks on $name', (engine: TestEngine) => {
  const shared = sharedWebhooks(engine);
  const { hooked, node } = shared;

  const refusals: readonly [string, () => Response | Promise<Response>, number | undefined, string][] = [
    ['answers 500', () => new Response('out of order', { status: 500 }), 500, 'answered 500 instead of 2xx'],
    ['redirects', () => Response.redirect('https://example.com/'), 302, 'redirects are not followed'],
  ];
  test.each(refusals)('a receiver that %s gets the same message later', async (_, answer, status, error) => {
    const { project, runner, set, got, record, deliveries } = await hooked();
    shared.receiver.answer(project, answer);
    const seq = await set('a', on);
    await set('b', on);
    await runner.runOnce();
    await runner.runOnce();
    expect(got()).toHaveLength(1);
    const [failed] = await deliveries();
    expect([failed.outcome, failed.status, failed.seq]).toEqual(['failed', status, seq]);
    expect(failed.error).toContain(error);
    const due = Date.parse((await record()).nextAttemptAt);
    expect(due).toBe(shared.app.node.now + WEBHOOK_RETRIES.firstMs);
    shared.receiver.answer(project, () => new Response());
    shared.app.node.now = due;
    await runner.runOnce();
    const [first, again, next] = got();
    expect(again?.headers['webhook-id']).toBe(first?.headers['webhook-id'] ?? '');
    expect(again?.body).toBe(first?.body ?? '');
    expect([got().length, next?.body]).toEqual([3, expect.stringContaining('"target":"b"')]);
    expect(await record()).toMatchObject({ failures: 0, status: 'active' });
  });

  test('a deleted project ends its webhooks, also while an attempt is written down', async () => {
    const { app, receiver } = shared;
    const { path, project, runner, set } = await hooked();
    await set('a', on);
    const byName = 'project_id = (SELECT id FROM projects WHERE name = $1)';
    const [hook] = await app.context.store.query<{ id: string }>(`SELECT id FROM webhooks WHERE ${byName}`, [
      project,
    ]);

    let deleted: ReturnType<typeof app.call> | undefined;
    receiver.answer(project, () => {
      deleted ??= app.call('DELETE', path);
      return new Response();
    });
    await runner.runOnce();

    expect((await deleted)?.status).toBe(200);
    const tables = { webhooks: 'id', webhook_deliveries: 'webhook_id', webhook_hours: 'webhook_id' };
    for (const [table, column] of Object.entries(tables)) {
      const rows = `SELECT ${column} FROM ${table} WHERE ${column} = $1`;
      expect(await app.context.store.query(rows, [hook?.id ?? ''])).toEqual([]);
    }
  });

  test('Retry-After is respected, and the pause doubles up to its limit', async () => {
    const { project, runner, set, record } = await hooked();
    shared.receiver.answer(
      project,
      () => new Response('', { status: 429, headers: { 'Retry-After': '120' } }),
    );
    await set('a', on);
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 11; attempt++) {
      await runner.runOnce();
      const due = Date.parse((await record()).nextAttemptAt);
      pauses.push((due - shared.app.node.now) / 1000);
      shared.app.node.now = due;
    }
    expect(pauses).toEqual([120, 120, 120, 120, 120, 160, 320, 640, 900, 900, 900]);
  });

  test('a pause that is no whole number of milliseconds is stored too', async () => {
    const { project, set, record, deliveries } = await hooked();
    shared.app.node.now += LEASE_MS;
    shared.receiver.answer(project, () => new Response('', { status: 500 }));
    await set('a', on);
    await node(undefined, () => 0.1234).runOnce();
    expect((await deliveries())[0]).toMatchObject({ outcome: 'failed', status: 500 });
    const { failures, nextAttemptAt } = await record();
    expect([failures, Date.parse(nextAttemptAt) - shared.app.node.now]).toEqual([1, 4_247]);
  });

  /** A receiver that fails and wants to be asked once an hour, and a node that asks it for this many hours. */
  async function failing() {
    const webhook = await hooked();
    const headers = { 'Retry-After': '3600' };
    shared.receiver.answer(webhook.project, () => new Response('', { status: 503, headers }));
    const runFor = async (hours: number) => {
      for (let hour = 0; hour < hours; hour++) {
        await webhook.runner.runOnce();
        shared.app.node.now += HOUR_MS;
      }
    };
    return { ...webhook, runFor };
  }

  test('after a day a change is given up, and after five days the webhook is disabled', async () => {
    const { project, path, runner, runFor, set, got, record, deliveries } = await failing();
    await set('a', on);
    const last = await set('b', on);
    await runFor(20);
    const young = await set('c', on);
    await runFor(4);
    expect(await record()).toMatchObject({ givenUp: 0 });
    await runFor(1);
    expect(await record()).toMatchObject({ givenUp: 2, deliveredSeq: last, status: 'active' });
    expect((await deliveries())[0]).toMatchObject({ outcome: 'given-up', seq: last });
    // Most of the other days are left out.
    await shared.app.home.database.query(
      `UPDATE webhooks SET failing_since = failing_since - ${94 * HOUR_MS} WHERE status = 'active'`,
    );
    await runFor(1);
    expect(await record()).toMatchObject({ givenUp: 2, status: 'active' });
    await runFor(1);
    expect(await record()).toMatchObject({ status: 'disabled', reason: 'Every attempt failed for 5 days.' });
    const audit = await shared.app.call('GET', `/api/audit?project=${project}&action=webhook.disabled`);
    expect(audit.json.entries).toMatchObject([{ actor: 'system', target: 'ci' }]);
    const seen = got().length;
    await runner.runOnce();
    expect(got()).toHaveLength(seen);
    // What was given up can be sent by hand.
    shared.receiver.answer(project, () => new Response());
    const replayed = await shared.app.call('POST', `${path}/webhooks/ci/replay`, { body: { seq: young } });
    expect(replayed.json).toMatchObject({ outcome: 'delivered', trigger: 'replay', seq: young });
    const resumed = await shared.app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'active' } });
    expect(resumed.json).toMatchObject({ status: 'active', failures: 0 });
    expect(resumed.json.reason).toBeUndefined();
    const later = await set('d', on);
    await runner.runOnce();
    expect(await record()).toMatchObject({ deliveredSeq: later, givenUp: 2 });
  });

  test('time in which no node ran counts neither for a change nor for the webhook', async () => {
    const { project, runner, runFor, set, got, record } = await failing();
    const first = await set('a', on);
    await runFor(20);
    const second = await set('b', on);
    await runFor(1);
    shared.app.node.now += 6 * 24 * HOUR_MS;
    await runFor(3);
    expect(await record()).toMatchObject({ givenUp: 0, status: 'active' });
    // The first change has had its day, and the one behind it has not.
    await runFor(1);
    expect(await record()).toMatchObject({ givenUp: 1, deliveredSeq: first, status: 'active' });
    shared.receiver.answer(project, () => new Response());
    await runner.runOnce();
    expect(await record()).toMatchObject({ givenUp: 1, deliveredSeq: second, failures: 0 });
    expect(got().at(-1)?.body).toContain('"target":"b"');
  });

  test('a new address is tried at once, and its receiver starts without failures', async () => {
    const { project, path, runner, runFor, set } = await failing();
    await set('a', on);
    await runFor(2);
    await runner.runOnce();
    const repaired = `${project}-repaired`;
    const body = { url: shared.receiver.url(repaired) };
    const { json } = await shared.app.call('PATCH', `${path}/webhooks/ci`, { body });
    expect([json.failures, json.failingSince, json.nextAttemptAt]).toEqual([0, undefined, undefined]);
    await runner.runOnce();
    expect(shared.receiver.messages(repaired)[0]?.body).toContain('"target":"a"');
  });

  test('an attempt at an address that is replaced at that moment counts nothing against the new one', async () => {
    const { project, path, runner, set, record } = await hooked();
    const url = shared.receiver.url(`${project}-repaired`);
    shared.receiver.answer(project, async () => {
      await shared.app.call('PATCH', `${path}/webhooks/ci`, { body: { url } });
      return new Response('', { status: 410 });
    });
    await set('a', on);
    await runner.runOnce();
    const { status, failures, nextAttemptAt } = await record();
    expect([status, failures, nextAttemptAt]).toEqual(['active', 0, undefined]);
    await runner.runOnce();
    expect(shared.receiver.messages(`${project}-repaired`)[0]?.body).toContain('"target":"a"');
  });

  test('two changes of a webhook at the same time are both kept', async () => {
    const { path, record } = await hooked();
    for (const [index, event] of ['key', 'schedule', 'rollout', 'project'].entries()) {
      const patch = (body: object) => shared.app.call('PATCH', `${path}/webhooks/ci`, { body });
      const url = shared.receiver.url(`round-${index}`);
      const answers = await Promise.all([patch({ url }), patch({ events: [event] })]);
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(await record()).toMatchObject({ url, events: [event] });
    }
  });

  test('the answer 410 disables at once; a webhook that is paused keeps what waits', async () => {
    const { project, path, runner, set, got, record } = await hooked();
    shared.receiver.answer(project, () => new Response('', { status: 410 }));
    await set('a', on);
    await runner.runOnce();
    expect(await record()).toMatchObject({ status: 'disabled', reason: expect.stringContaining('410') });
    shared.receiver.answer(project, () => new Response());
    await shared.app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'active' } });
    await shared.app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'paused' } });
    const waiting = await set('b', on);
    await runner.runOnce();
    expect(got()).toHaveLength(1);
    await shared.app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'active' } });
    await runner.runOnce();
    expect(got().some(({ body }) => body.includes(`"seq":${waiting},`))).toBe(true);
    await shared.app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'paused' } });
    await set('c', on);
    await shared.app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'active', skipPending: true } });
    await runner.runOnce();
    expect(got().some(({ body }) => body.includes('"target":"c"'))).toBe(false);
    expect((await record()).pendingSince).toBeUndefined();
  });

  test('what is skipped while a receiver holds an attempt stays skipped', async () => {
    const { project, path, runner, set, got, record } = await hooked();
    const { promise: hangs, resolve: release } = Promise.withResolvers<Response>();
    const { arrived } = shared.receiver.answer(project, () => hangs);
    await set('a', on);
    await set('b', on);
    const stuck = runner.runOnce();
    await within('the receiver holds the first message', arrived);
    const skipped = await shared.app.call('PATCH', `${path}/webhooks/ci`, { body: { skipPending: true } });
    expect(skipped.status).toBe(200);
    release(new Response());
    await stuck;
    await runner.runOnce();
    expect(got().some(({ body }) => body.includes('"target":"b"'))).toBe(false);
    expect((await record()).pendingSince).toBeUndefined();
  });

  test('one node at a time delivers; when it is killed, the next one continues after the lease', async () => {
    const { project, set, got, record } = await hooked();
    shared.app.node.now += LEASE_MS;
    const elsewhere = new SqlStore(await shared.app.home.connect(), { now: shared.app.context.now });
    // Both find it at once.
    await set('a', off);
    await Promise.all([node().runOnce(), node(elsewhere).runOnce(), node().runOnce()]);
    expect(got().splice(0)).toHaveLength(1);
    shared.app.node.now += LEASE_MS;
    const [one, other] = [node(), node(elsewhere)];
    const { promise: hangs, resolve: release } = Promise.withResolvers<Response>();
    const { arrived } = shared.receiver.answer(project, () => hangs);
    const seqs = [await set('a', on), await set('b', on), await set('c', on)];
    const stuck = one.runOnce();
    await within('the first node sends a message', arrived);
    await other.runOnce();
    expect(got()).toHaveLength(1);
    // The first node hangs for longer than its lease.
    shared.app.node.now += LEASE_MS;
    shared.receiver.answer(project, () => new Response());
    await other.runOnce();
    release(new Response());
    await stuck;
    await one.runOnce();
    const ids = got().map(({ headers }) => Number(headers['webhook-id']?.split('_')[1]));
    const [first = 0, ...rest] = seqs;
    expect(ids).toEqual([first, first, ...rest]);
    expect(await record()).toMatchObject({ deliveredSeq: seqs.at(-1) });
  });

  test('a clock that was far ahead for a moment holds no webhook up until that date', async () => {
    const { project, set, got, record } = await hooked();
    shared.app.node.now += LEASE_MS;
    const month = 30 * 24 * HOUR_MS;
    await set('a', on);
    // The node is killed while the receiver holds its message, so its lease stays.
    shared.app.node.now += month;
    const killed = node();
    const { arrived } = shared.receiver.answer(project, () => new Promise(() => {}));
    const stuck = killed.runOnce();
    await within('the killed node sends a message', arrived);
    shared.app.node.now -= month;
    shared.receiver.answer(project, () => new Response('', { status: 503 }));
    const next = node();
    await next.runOnce();
    expect([got().length, (await record()).failures]).toEqual([2, 1]);
    // The same for the pause after an attempt that failed.
    await shared.app.home.database.query('UPDATE webhooks SET next_attempt_at = next_attempt_at + $1', [
      month,
    ]);
    shared.receiver.answer(project, () => new Response());
    await next.runOnce();
    expect([got().length, (await record()).pendingSince]).toEqual([3, undefined]);
    await killed.close();
    await stuck;
  });

  test('a node that stops ends its attempt at once, and the next one need not wait', async () => {
    const { project, set, got } = await hooked();
    shared.app.node.now += LEASE_MS;
    const one = node();
    const { arrived } = shared.receiver.answer(project, () => new Promise(() => {}));
    await set('a', on);
    const stuck = one.runOnce();
    await within('the first node sends the message', arrived);
    await within('the first node stops', one.close());
    await stuck;
    shared.receiver.answer(project, () => new Response());
    await node().runOnce();
    const ids = got().map(({ headers }) => headers['webhook-id']);
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });

  test('a receiver that never answers delays no other, and a started node delivers by itself', async () => {
    const slow = await hooked();
    const fast = await hooked();
    shared.app.node.now += LEASE_MS;
    const { arrived: stuck } = shared.receiver.answer(slow.project, () => new Promise(() => {}));
    const runner = node();
    const idOf = (name: string) =>
      shared.app.home.store.read(async (db) => (await readProject(db, name))?.id ?? '');
    runner.start();
    await slow.set('a', on);
    runner.applied({ projectId: await idOf(slow.project) });
    await within('the slow receiver got its message', stuck);
    const { arrived } = shared.receiver.answer(fast.project, () => new Response());
    await fast.set('a', on);
    runner.applied({ projectId: await idOf(fast.project) });
    await within('the other receiver got its message', arrived);
    await within('the node stops', runner.close());
  });

  test('only the last hundred attempts are kept, and deleting a project ends its webhooks', async () => {
    const { path, runner, set, deliveries } = await hooked();
    const numbers = async () => (await deliveries()).map(({ number }: { number: number }) => number);
    await set('a', on);
    await runner.runOnce();
    expect(await numbers()).toEqual([2, 1]);
    // Ninety-nine more would have come and gone.
    await shared.app.home.database.query('UPDATE webhooks SET deliveries = 100 WHERE name = $1', ['ci']);
    await set('a', off);
    await runner.runOnce();
    expect(await numbers()).toEqual([101, 2]);
    expect((await shared.app.call('DELETE', path)).status).toBe(200);
    await runner.runOnce();
    expect((await shared.app.call('GET', `${path}/webhooks`)).status).toBe(404);
  });
});
