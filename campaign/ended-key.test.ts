import { afterAll, beforeAll, expect, test } from 'bun:test';
import { beforeDeadline, Management, openSse, type SseReader, until } from '@halyard/testing';
import { startPostgresFleet } from './fleet.ts';
import type { Fleet } from './fleet-node.ts';

let fleet: Fleet;
let management: Management;

beforeAll(async () => {
  fleet = await startPostgresFleet();
  management = new Management({ url: fleet.nodes[0]?.url ?? '', adminToken: fleet.adminToken });
  await management.createProject('demo');
}, 120_000);

afterAll(async () => {
  await fleet.close();
}, 120_000);

test('a revoked key is refused and its streams are closed on every node', async () => {
  const ended = await management.createKey('demo', ['production']);
  const other = await management.createKey('demo', ['production']);
  const streams = await openEverywhere(ended.key);
  const others = await openEverywhere(other.key);
  await management.revokeKey(ended.id);
  await Promise.all(streams.map((stream) => stream.untilEnded()));
  await management.putState('demo', 'production', 'after', { enabled: true });
  for (const stream of others) expect((await stream.nextFrame()).data).toContain('after');
  for (const stream of streams) expect(stream.frames).toHaveLength(1);
  await expectRefusedEverywhere(ended.key);
  for (const stream of others) stream.close();
}, 120_000);

test('a key that expires is refused and its streams are closed on every node', async () => {
  const { key, streams, expiresAt } = await beforeDeadline(async (expiresAt) => {
    const options = { expiresAt: new Date(expiresAt).toISOString() };
    const { key } = await management.createKey('demo', ['staging'], options);
    return { key, streams: await openEverywhere(key, 'staging'), expiresAt };
  }, 3_000);
  const ends = await Promise.all(streams.map((stream) => stream.untilEnded()));
  for (const end of ends) expect(end.at).toBeGreaterThanOrEqual(expiresAt - 50);
  await expectRefusedEverywhere(key, 'staging');
}, 120_000);

test('a key that expires in months is not closed at once', async () => {
  // Timers count to 2^31 milliseconds, about 25 days; a longer one would ring at once.
  const { key } = await management.createKey('demo', ['development'], {
    expiresAt: new Date(Date.now() + 60 * 24 * 3_600_000).toISOString(),
  });
  const streams = await openEverywhere(key, 'development');
  await Bun.sleep(300);
  for (const stream of streams) {
    expect(stream.end).toBeUndefined();
    stream.close();
  }
}, 120_000);

/** One stream on each node, as soon as that node knows the key, each with its first frame read. */
async function openEverywhere(key: string, environment = 'production'): Promise<SseReader[]> {
  return await Promise.all(
    fleet.nodes.map(async (node) => {
      const stream = await until(`${node.name} knows the key`, async () => {
        const opened = await openSse(`${node.url}/v1/stream?env=${environment}`, {
          headers: { 'X-Service-Key': key },
        });
        if (opened.status === 200) return opened;
        opened.close();
        return undefined;
      });
      await stream.nextFrame();
      return stream;
    }),
  );
}

async function expectRefusedEverywhere(key: string, environment = 'production'): Promise<void> {
  for (const node of fleet.nodes) {
    const read = await fetch(`${node.url}/v1/flags?env=${environment}`, {
      headers: { 'X-Service-Key': key },
    });
    expect(read.status).toBe(401);
    const stream = await openSse(`${node.url}/v1/stream?env=${environment}`, {
      headers: { 'X-Service-Key': key },
    });
    expect(stream.status).toBe(401);
    stream.close();
  }
}
