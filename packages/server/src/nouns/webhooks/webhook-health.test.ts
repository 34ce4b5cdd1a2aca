import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { within } from '@halyard/testing';
import { HOUR_MS } from '../../domain/clock.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { sharedWebhooks } from './test-webhooks.ts';
import { COUNTED_ENTRIES } from './webhook.ts';

setDefaultTimeout(60_000);

const on = { enabled: true };
const off = { enabled: false };

describe.each(ENGINES)('how webhooks are doing on $name', (engine: TestEngine) => {
  const shared = sharedWebhooks(engine);

  /** A webhook whose receiver refuses flag `poison` and takes everything else. */
  async function poisoned(settings: object = {}) {
    const webhook = await shared.hooked(settings);
    shared.receiver.answer(webhook.project, () =>
      webhook.got().at(-1)?.body.includes('"target":"poison"')
        ? new Response(`channel_not_found ${'x'.repeat(500)}`, { status: 500 })
        : new Response(),
    );
    const skip = (seq: number) =>
      shared.app.call('POST', `${webhook.path}/webhooks/ci/skip`, { body: { seq } });
    return { ...webhook, skip };
  }

  test('a failing webhook says why, how many of its changes wait, and since when', async () => {
    const { path, runner, set, record, deliveries } = await poisoned({ environments: ['production'] });
    await set('fine', on);
    await set('poison', on);
    await set('fine', off);
    await set('fine', on, 'staging');
    const since = shared.app.node.now;
    await runner.runOnce();

    shared.app.node.now += 2 * HOUR_MS;
    await runner.runOnce();

    const failing = await record();
    const [newest] = await deliveries();
    expect(failing).toMatchObject({
      failures: 2,
      pendingCount: 2,
      pendingSince: new Date(since).toISOString(),
      lastFailure: {
        seq: newest.seq,
        changed: newest.changed,
        status: 500,
        error: 'The receiver answered 500 instead of 2xx.',
      },
    });
    expect(failing.lastFailure.answer).toStartWith('channel_not_found x');
    expect(failing.lastFailure.answer).toHaveLength(200);
    expect(newest.changed[0]).toEqual({ action: 'flag.created', target: 'poison' });

    // Its creation, "fine" and the first failure; then the second one.
    const hour = (at: number) => new Date(Math.floor(at / HOUR_MS) * HOUR_MS).toISOString();
    expect(failing.hours).toEqual([
      { at: hour(since), delivered: 2, failed: 1 },
      { at: hour(shared.app.node.now), delivered: 0, failed: 1 },
    ]);
    shared.app.node.now += 23 * HOUR_MS;
    const [listed] = (await shared.app.call('GET', `${path}/webhooks`)).json.webhooks;
    expect(listed.hours).toEqual([{ at: hour(since + 2 * HOUR_MS), delivered: 0, failed: 1 }]);
  });

  test('what waits is counted up to a limit, and only what the webhook delivers', async () => {
    const { path, set, record } = await shared.hooked({ environments: ['production'], events: ['flag'] });
    await shared.app.call('PATCH', `${path}/webhooks/ci`, { body: { status: 'paused' } });
    await set('elsewhere', on, 'staging');
    const changes = Array.from({ length: COUNTED_ENTRIES / 2 }, (_, index) => ({
      key: `f${index}`,
      state: on,
    }));
    await shared.app.call('POST', `${path}/environments/staging/changes`, { body: { changes } });
    // Created flags belong to every environment, so both changes wait.
    expect(await record()).toMatchObject({ pendingCount: 2, pendingMore: true });

    await shared.app.call('PATCH', `${path}/webhooks/ci`, { body: { skipPending: true } });
    await set('f0', off, 'staging');
    const { pendingCount, pendingMore, pendingSince } = await record();
    expect([pendingCount, pendingMore, pendingSince]).toEqual([0, undefined, undefined]);
  });

  test('only the next change can be skipped (S22.1), and what is behind it is tried at once', async () => {
    const { project, runner, set, got, record, skip } = await poisoned();
    const poison = await set('poison', on);
    const behind = await set('fine', on);
    await runner.runOnce();
    shared.app.node.now += 20 * HOUR_MS;
    await runner.runOnce();
    const before = await record();

    for (const seq of [behind, before.deliveredSeq, 1]) {
      expect(await skip(seq)).toMatchObject({ status: 404, json: { error: 'not_found' } });
    }
    expect(await record()).toEqual(before);

    const skipped = await skip(poison);
    expect(skipped.json).toMatchObject({ deliveredSeq: poison, failures: 0, pendingCount: 1 });
    expect([skipped.json.failingSince, skipped.json.lastFailure]).toEqual([undefined, undefined]);
    await runner.runOnce();
    expect(got().at(-2)?.body).toContain(`"seq":${behind},`);
    expect(await record()).toMatchObject({ deliveredSeq: skipped.json.seq, pendingCount: 0, failures: 0 });
    expect((await skip(poison)).status).toBe(404);

    const audit = await shared.app.call('GET', `/api/audit?project=${project}&action=webhook.skipped`);
    expect(audit.json.entries).toMatchObject([
      { actor: 'token:admin', target: 'ci', after: { name: 'ci', deliveredSeq: poison } },
    ]);
  });

  test('an attempt that runs while its change is skipped records nothing', async () => {
    const { project, runner, set, record, deliveries, skip } = await shared.hooked().then((webhook) => ({
      ...webhook,
      skip: (seq: number) => shared.app.call('POST', `${webhook.path}/webhooks/ci/skip`, { body: { seq } }),
    }));
    const { promise: hangs, resolve: release } = Promise.withResolvers<Response>();
    const { arrived } = shared.receiver.answer(project, () => hangs);
    const seq = await set('a', on);
    const stuck = runner.runOnce();
    await within('the receiver holds the message', arrived);

    expect((await skip(seq)).status).toBe(200);
    release(new Response('', { status: 500 }));
    await stuck;

    expect(await record()).toMatchObject({ deliveredSeq: seq, failures: 0 });
    expect((await deliveries()).some((delivery: { seq?: number }) => delivery.seq === seq)).toBe(false);
  });
});
