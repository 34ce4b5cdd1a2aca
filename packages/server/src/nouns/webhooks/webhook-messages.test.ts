import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { Webhook as Verifier } from 'standardwebhooks';
import { HOUR_MS } from '../../domain/clock.ts';
import { ENGINES, type TestEngine } from '../../storage/test-engines.ts';
import { runDueSchedules } from '../schedules/schedule-runner.ts';
import { ChangeMessageSchema } from './message-schema.ts';
import { sharedWebhooks } from './test-webhooks.ts';

setDefaultTimeout(60_000);

const on = { enabled: true };
const off = { enabled: false };

describe.each(ENGINES)('the messages of webhooks on $name', (engine: TestEngine) => {
  const shared = sharedWebhooks(engine);
  const { hooked } = shared;

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
      timestamp: new Date(shared.app.node.now).toISOString(),
      data: {
        seq,
        project,
        actor: 'token:admin',
        url: `https://flags.example/projects/${project}/history?change=${seq}`,
        events: [
          {
            action: 'flag.changed',
            environment: 'production',
            target: 'checkout',
            before: off,
            after: { enabled: true, value: 1.5 },
          },
        ],
      },
    });
    expect(() => new Verifier(secret).verify(`${message.body} `, message.headers)).toThrow();
    expect(ChangeMessageSchema.strict().parse(JSON.parse(message.body))).toBeDefined();
    const [delivered] = await deliveries();
    expect(delivered).toMatchObject({ number: 3, seq, messageId: id, outcome: 'delivered', status: 200 });
    const list = await shared.app.call('GET', `${path}/webhooks`);
    const audit = await shared.app.call('GET', `/api/audit?project=${project}`);
    expect(list.text + audit.text).not.toContain(secret.slice(8));
  });

  test('changes of structure arrive too, in order, and large changes are cut', async () => {
    const { path, runner, got } = await hooked();
    await shared.app.call('POST', `${path}/flags`, { body: { key: 'a' } });
    const changes = Array.from({ length: 120 }, (_, index) => ({ key: `f${index}`, state: on }));
    await shared.app.call('POST', `${path}/environments/production/changes`, { body: { changes } });
    await shared.app.call('POST', `${path}/flags/a/archive`);
    const key = await shared.app.call('POST', `${path}/keys`, {
      body: { name: 'web', environments: ['staging'] },
    });
    await shared.app.call('DELETE', `/api/keys/${key.json.id}`);
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
    await shared.app.call('POST', `${path}/environments/production/changes`, { body: { changes: heavy } });
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
    await shared.app.call('POST', `${path}/keys`, { body: { name: 'web', environments: ['staging'] } });
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
    const dueAt = new Date(shared.app.node.now + HOUR_MS).toISOString();
    const later = { environment: 'production', dueAt, note: 'launch', changes: [{ key: 'a', state: off }] };
    await shared.app.call('POST', `${path}/schedules`, { body: later });
    shared.app.node.now += HOUR_MS;
    await runDueSchedules(shared.app.context);
    await runner.runOnce();
    const [, created, ran] = got().map(({ body }) => JSON.parse(body).text.split('\n'));
    expect(created[1]).toBe('• schedule of a created in production');
    expect(ran.slice(0, -1)).toEqual([
      expect.stringMatching(/^token admin changed .+ \(Schedule .+: launch\):$/),
      '• a in production: on, "&lt;b&gt; &amp; co", 5% → off',
    ]);
    // The path of such an address is a secret.
    expect((await record()).url).toBe(`${shared.receiver.origin}/…`);
  });

  test('a test message goes out at once and is written down', async () => {
    const { project, path, got, deliveries, secret } = await hooked();
    shared.receiver.answer(project, () => new Response('welcome \0 here'));
    const { status, json } = await shared.app.call('POST', `${path}/webhooks/ci/test`);
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
    const rotated = await shared.app.call('POST', `${path}/webhooks/ci/rotate`, {
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
    shared.app.node.now += Math.ceil(0.0512345 * HOUR_MS);
    expect(await verify(rotated.json.secret)).toBeDefined();
    await expect(verify(secret)).rejects.toThrow('No matching signature');
  });
});
