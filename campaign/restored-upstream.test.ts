import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { createClient } from '@halyard/client';
import { Management, openSse, temporaryFolder, until } from '@halyard/testing';
import { Chance } from '../simulation/chance.ts';
import { startFleet } from './fleet.ts';
import type { FleetNode } from './fleet-node.ts';
import { Recorder } from './recorder.ts';
import { createWorld, type Place } from './world.ts';

const MAIN = join(import.meta.dir, '../packages/server/src/main.ts');

/** The flags of a node, and their revision and tag; `undefined` unless it is current. */
async function read(node: FleetNode, place: Place, key = place.key) {
  const answer = await fetch(`${node.url}/v1/flags?env=${place.environment}`, {
    headers: { 'X-Service-Key': key },
  });
  if (answer.status === 401) return 'refused';
  if (!answer.ok || answer.headers.has('X-Flags-Stale')) return undefined;
  const { flags } = (await answer.json()) as { flags: Record<string, { value?: unknown }> };
  return { flags, revision: answer.headers.get('X-Flags-Revision'), tag: answer.headers.get('ETag') };
}

test('relays, their streams and clients end on the state of an upstream that was restored from a backup', async () => {
  using folder = temporaryFolder();
  const fleet = await startFleet('relay');
  const { places, ...world } = await createWorld(fleet, new Recorder(), new Chance(1));
  const [origin, first, second] = fleet.nodes;
  const [place] = places;
  if (!origin || !first || !second || !place) throw new Error('the fleet has a node and two relays');
  const { project, environment, key } = place;
  const management = new Management({ url: origin.url, adminToken: world.fleet.adminToken });
  const client = createClient({ apiKey: key, environment, baseUrl: second.url, logger: false });
  const run = async (...args: readonly string[]) => {
    const child = Bun.spawn([process.execPath, MAIN, ...args], { stdout: 'ignore', stderr: 'inherit' });
    expect(await child.exited).toBe(0);
  };
  const open = (node: FleetNode) =>
    openSse(`${node.url}/v1/stream?env=${environment}`, { headers: { 'X-Service-Key': key } });
  try {
    const { dataFolder } = origin.process;
    await management.putState(project, environment, 'left', { enabled: true, value: 'kept' });
    await run('backup', folder.file('a.backup'), '--data', dataFolder);
    for (const value of ['lost', 'lost as well'])
      await management.putState(project, environment, 'left', { enabled: true, value });
    const { key: lateKey } = await management.createKey(project, [environment]);
    await client.ready();
    const streams = await Promise.all(fleet.nodes.map(open));
    await until('the client has the newest state', () => client.getValue('left', '') === 'lost as well');
    await until('the relays know the late key', async () =>
      (await Promise.all([first, second].map((node) => read(node, place, lateKey)))).every(
        (answer) => answer !== undefined && answer !== 'refused',
      ),
    );

    await origin.stop();
    for (const stream of streams) expect((await stream.untilEnded()).how).toBe('closed');
    await run('restore', folder.file('a.backup'), '--data', dataFolder, '--replace');
    // One relay has only its last known flags, of the history that is gone, and the other follows it.
    await first.stop();
    await first.start('listening');
    await origin.start();
    for (const node of fleet.nodes) await node.process.readiness(200);

    // On a busy machine the last heartbeat may be old for a moment.
    const current = (node: FleetNode) => until(`${node.name} is current`, () => read(node, place));
    const restored = await current(origin);
    expect(restored).toMatchObject({ flags: { left: { value: 'kept' } } });
    for (const node of [first, second]) {
      expect(await current(node)).toEqual(restored);
      expect(await read(node, place, lateKey)).toBe('refused');
    }
    await until('the client has the restored state', () => client.getValue('left', '') === 'kept');
    const again = await Promise.all(fleet.nodes.map(open));
    for (const value of ['new', 'newer'])
      await management.putState(project, environment, 'left', { enabled: true, value });
    for (const stream of again) {
      for (const value of ['kept', 'new', 'newer'])
        expect(JSON.parse((await stream.nextFrame()).data).left.value).toBe(value);
    }
    await until('the client has the newest state', () => client.getValue('left', '') === 'newer');
    for (const stream of again) stream.close();
  } finally {
    await client.close();
    await fleet.close();
  }
}, 120_000);
