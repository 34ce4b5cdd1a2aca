import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Management, ManagementError, openSse, type SseReader, until } from '@halyard/testing';
import { startPostgresFleet } from './fleet.ts';
import type { Fleet, FleetNode } from './fleet-node.ts';

let fleet: Fleet;
let key: string;

beforeAll(async () => {
  fleet = await startPostgresFleet();
  const management = managementOf(nodeAt(0));
  await management.createProject('demo');
  ({ key } = await management.createKey('demo', ['production']));
  await management.putState('demo', 'production', 'a', { enabled: true, value: 1 });
}, 120_000);

afterAll(async () => {
  await fleet.close();
}, 60_000);

test('a node in a black hole closes its streams, reports it everywhere, and recovers by itself', async () => {
  const lost = nodeAt(0);
  const healthy = nodeAt(1);
  await healthy.process.readiness(200);
  await until('the other node has applied the first state', async () => {
    const read = await fetch(`${healthy.url}/v1/flags/a?env=production`, {
      headers: { 'X-Service-Key': key },
    });
    return read.status === 200;
  });
  const lostStreams = await Promise.all(Array.from({ length: 10 }, () => openStream(lost)));
  const healthyStream = await openStream(healthy);
  for (const stream of [...lostStreams, healthyStream]) await stream.nextFrame();

  lost.proxy?.blackhole();
  await Promise.all(lostStreams.map((stream) => stream.untilEnded()));

  // The rest of the fleet keeps working, and the lost node does not pretend to.
  await managementOf(healthy).putState('demo', 'production', 'a', { enabled: true, value: 2 });
  expect(JSON.parse((await healthyStream.nextFrame()).data)).toEqual({ a: { enabled: true, value: 2 } });
  for (const stream of lostStreams) expect(stream.frames).toHaveLength(1);

  const read = await fetch(`${lost.url}/v1/flags?env=production`, { headers: { 'X-Service-Key': key } });
  expect(read.status).toBe(200);
  expect(Number(read.headers.get('x-flags-stale'))).toBeGreaterThanOrEqual(1);
  expect(await read.json()).toMatchObject({ flags: { a: { value: 1 } } });

  await lost.process.readiness(503);
  const refused = await openStream(lost);
  await refused.untilEnded();
  expect(refused.status).toBe(500);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(JSON.parse(refused.text)).toMatchObject({ error: 'internal_error' });

  const write = managementOf(lost).putState('demo', 'production', 'a', { enabled: true, value: 3 });
  const refusal = await write.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(refusal instanceof ManagementError)) throw new Error('the write must be refused');
  expect(refusal.status).toBe(500);
  expect(refusal.body).toMatchObject({ error: 'internal_error' });
  expect(Number(refusal.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);

  lost.proxy?.restore();
  await lost.process.readiness(200);
  const again = await openStream(lost);
  expect(JSON.parse((await again.nextFrame()).data)).toEqual({ a: { enabled: true, value: 2 } });
  // On a busy machine the last heartbeat may be old for a moment.
  await until('its reads are current', async () => {
    const { headers } = await fetch(`${lost.url}/v1/flags?env=production`, {
      headers: { 'X-Service-Key': key },
    });
    return !headers.has('x-flags-stale');
  });
  await managementOf(lost).putState('demo', 'production', 'a', { enabled: true, value: 4 });
  expect(JSON.parse((await again.nextFrame()).data)).toEqual({ a: { enabled: true, value: 4 } });
  expect(JSON.parse((await healthyStream.nextFrame()).data)).toEqual({ a: { enabled: true, value: 4 } });
  for (const stream of [again, healthyStream]) stream.close();
}, 120_000);

test('a node whose link is slow is not ready although it follows the log, says why, and recovers by itself', async () => {
  const slow = nodeAt(0);
  await slow.process.readiness(200);
  const stream = await openStream(slow);
  await stream.nextFrame();
  // A question and its answer take 1.4 s and are a second apart, so each proof is too old before the next one comes.
  slow.proxy?.delay(700);
  await stream.untilEnded();
  const unready = await until('it says why', async () => {
    const answer = await fetch(`${slow.url}/readyz`);
    const text = await answer.text();
    return text.includes('"reason"') ? { status: answer.status, body: JSON.parse(text) } : undefined;
  });
  const reason = expect.stringContaining('the way to its database or upstream takes too long');
  expect(unready).toMatchObject({ status: 503, body: { canRead: true, reason } });
  const read = await fetch(`${slow.url}/v1/flags?env=production`, { headers: { 'X-Service-Key': key } });
  expect([read.status, read.headers.has('X-Flags-Stale')]).toEqual([200, true]);
  const refused = await openStream(slow);
  await refused.untilEnded();
  expect(refused.status).toBe(500);
  expect(slow.process.logs()).toContain('this node is not current; streams are closed');
  slow.proxy?.restore();
  await slow.process.readiness(200);
}, 120_000);

function nodeAt(index: number): FleetNode {
  const node = fleet.nodes[index];
  if (node === undefined) throw new Error('the fleet has three nodes');
  return node;
}

function managementOf(node: FleetNode): Management {
  return new Management({ url: node.url, adminToken: fleet.adminToken });
}

async function openStream(node: FleetNode): Promise<SseReader> {
  return await openSse(`${node.url}/v1/stream?env=production`, { headers: { 'X-Service-Key': key } });
}
