import { describe, expect, test } from 'bun:test';
import { settle } from './support/fake-platform.ts';
import { type Harness, harness, RECOVERY_MS, recovered } from './support/harness.ts';
import { blackHole, refuse } from './support/scripted-server.ts';

/** Lets the server send this many comments on the open stream, one at a time. */
async function sendComments(
  { server, platform }: Pick<Harness, 'server' | 'platform'>,
  count: number,
  everyMs = 15_000,
): Promise<void> {
  for (let i = 0; i < count; i++) {
    await platform.advance(everyMs);
    server.latest.text(':\n\n');
  }
}

describe('reconnecting', () => {
  test('a client recovers within 35 s from an outage of 30 minutes, with few requests during it', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    server.fail();
    await platform.advance(30 * 60_000);
    expect(client.isEnabled('a')).toBe(true);
    expect(server.count('/v1/stream')).toBeLessThan((30 * 60_000) / 15_000 + 12);
    server.heal();
    server.change({ a: { enabled: false } });
    await recovered({ client, platform });
    expect(client.isEnabled('a')).toBe(false);
  });

  test.each([0, 0.999])('with chance at %d the longest wait is 30 s', async (chance) => {
    const { client, server, platform } = harness();
    platform.chance = chance;
    await client.ready();
    server.fail();
    if (chance === 0) return expect(platform.delays.every((ms) => ms >= 0)).toBe(true);
    await platform.advance(10 * 60_000);
    server.heal();
    await recovered({ client, platform });
  });

  test('delays double while it fails and start again after a minute of health', async () => {
    const { client, server, platform } = harness();
    platform.chance = 0.999;
    await client.ready();
    const times: number[] = [];
    server.onStream = () => {
      times.push(platform.now());
      return refuse();
    };
    server.latest.break();
    await platform.advance(40_000);
    const gaps = times.map((time, i) => Math.round((time - (times[i - 1] ?? 0)) / 1000));
    expect(gaps).toEqual([1, 2, 4, 8, 16]);

    server.heal();
    await platform.advanceUntil(() => server.streams.length === 2, RECOVERY_MS);
    await platform.advance(10_000);
    server.latest.break();
    await settle();
    expect(platform.delays.some((ms) => ms > 20_000 && ms <= 30_000)).toBe(true); // not healthy for long enough
    await platform.advance(31_000);
    for (let i = 0; i < 7; i++) {
      await platform.advance(10_000);
      server.latest.text(':\n');
    }
    const before = server.count('/v1/stream');
    server.latest.break();
    await platform.advance(1_000);
    expect(server.count('/v1/stream')).toBe(before + 1);
  });

  test('a stream that is silent for three heartbeats is closed; comments and frames keep it open', async () => {
    const { client, server, platform, errors } = harness();
    await client.ready();
    await sendComments({ server, platform }, 10);
    expect(server.count('/v1/stream')).toBe(1);
    await platform.advance(44_000);
    expect(server.count('/v1/stream')).toBe(1);
    await platform.advance(2_500);
    expect(server.count('/v1/stream')).toBe(2);
    expect(server.streams[0]?.isCancelled).toBe(true);
    expect(errors.map(({ message }) => message)).toEqual(['it fell silent']);
  });

  test('a drip of single bytes is no sign of life, a long frame on a slow line is', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    const drip = server.latest;
    for (let i = 0; i < 30; i++) {
      drip.text(i === 0 ? 'data: {' : ' ');
      await platform.advance(2_000);
    }
    expect(drip.isCancelled).toBe(true);
    const slow = server.latest;
    slow.text('data: {"b":{"enabled":true,"value":"');
    for (let i = 0; i < 30; i++) {
      slow.text('x'.repeat(2_000));
      await platform.advance(20_000);
    }
    slow.text('"}}\n\n');
    await settle();
    expect(slow.isCancelled).toBe(false);
    expect(client.getValue('b', '')).toHaveLength(60_000);
  });

  test('REST provides the flags when the first frame of the stream does not come', async () => {
    const { client, server, platform } = harness();
    server.sendsFirstFrame = false;
    const ready = client.ready();
    await platform.advance(1_500);
    expect((await ready).status).toBe('ready');
  });

  test('a stream whose headers never come is bridged by REST within seconds', async () => {
    const { client, server, platform } = harness();
    server.onStream = blackHole;
    const ready = client.ready();
    await platform.advance(1_100);
    expect((await ready).status).toBe('ready');
    server.change({ a: { enabled: true, value: 9 } });
    await platform.advanceUntil(() => client.getValue('a', 0) === 9, RECOVERY_MS);
  });

  test('a stream that is closed after a healthy minute is no failure, one closed at once is', async () => {
    const { client, server, platform, codes } = harness();
    await client.ready();
    await sendComments({ server, platform }, 5, 14_000);
    server.latest.end();
    await platform.advance(1_500);
    expect(server.count('/v1/stream')).toBe(2);
    expect(codes()).toEqual([]);
    server.latest.end();
    await platform.advance(1_500);
    expect(codes()).toEqual(['stream_error']);
  });

  test('a reconnection time that the server sets is the first delay from then on', async () => {
    const { client, server, platform } = harness();
    platform.chance = 0.999;
    await client.ready();
    server.latest.text('retry: 10000\n\n');
    await settle();
    server.latest.break();
    await platform.advance(9_000);
    expect(server.count('/v1/stream')).toBe(1);
    await platform.advance(1_000);
    expect(server.count('/v1/stream')).toBe(2);
  });

  test('no REST request is made while the stream delivers', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    await sendComments({ server, platform }, 40);
    expect(server.count('/v1/flags')).toBe(0);
  });

  test('REST is polled every half minute until a stream is open', async () => {
    const { client, server, platform } = harness();
    await client.ready();
    server.onStream = refuse;
    server.latest.break();
    await platform.advance(10 * 60_000);
    const polls = server.count('/v1/flags');
    expect(polls).toBeGreaterThanOrEqual(18);
    expect(polls).toBeLessThanOrEqual(28);
    server.heal();
    await platform.advance(31_000);
    const after = server.count('/v1/flags');
    await sendComments({ server, platform }, 10);
    expect(server.count('/v1/flags')).toBe(after);
  });
});

test('ready() of a client that has failed waits for the next attempt, and succeeds when the server is back', async () => {
  const { client, server, platform } = harness();
  server.fail();
  const first = client.ready();
  await platform.advance(1_500);
  expect((await first).status).toBe('failed');
  let isOver = false;
  const second = client.ready();
  void second.then(() => {
    isOver = true;
  });
  await platform.advance(100);
  expect(isOver).toBe(false);
  server.heal();
  await platform.advance(4_000);
  expect((await second).status).toBe('ready');
});

test('ready() of a client that has failed respects its timeout', async () => {
  const { client, server, platform } = harness();
  server.fail();
  void client.ready();
  await platform.advance(1_500);
  const limited = client.ready({ timeoutMs: 10 });
  await platform.advance(10);
  expect((await limited).status).toBe('failed');
});
