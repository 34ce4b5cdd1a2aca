import { beforeDeadline, Management } from '@halyard/testing';
import type { Chance } from '../simulation/chance.ts';
import { now } from './clock.ts';
import { openRecordedEvents, readBulkRecorded } from './event-reader.ts';
import { type FleetNode, managersOf } from './fleet-node.ts';
import { openRecorded } from './reader.ts';
import { readRecorded } from './rest-reader.ts';
import { type Place, untilKnown, type World } from './world.ts';

let guests = 0;

/**
 * Makes a key, opens a stream with it on every node, and ends the key while changes go on. Its readers keep asking
 * after that, as a client with an old key would; what they get is for the checker to judge.
 */
export async function endKeyWithOpenStreams(
  world: World,
  random: Chance,
  cause: 'revoked' | 'expired',
): Promise<void> {
  const place = random.pick(world.places);
  const through = random.pick(managersOf(world.fleet));
  const management = new Management({ url: through.url, adminToken: world.fleet.adminToken });

  const { id, text, expiresAt } = await world.prepare('the key', () =>
    cause === 'expired'
      ? beforeDeadline((expiresAt) => createKey(management, place, expiresAt), 2_500)
      : createKey(management, place, Number.POSITIVE_INFINITY),
  );
  const key = { id, text };
  await Promise.all(
    world.fleet.nodes.map((node) => untilKnown(node, { ...place, key: text }, () => now() > expiresAt)),
  );

  guests += 1;
  const name = `guest-${guests}`;
  const address = (await readBulkRecorded(world, place, random.pick(world.fleet.nodes), { key }))?.address;
  const openOn = (node: FleetNode) => [
    openRecorded(world, `${name}-${node.name}`, place, node, key),
    ...(address === undefined
      ? []
      : [openRecordedEvents(world, `${name}-events-${node.name}`, place, { node, address, key })]),
  ];

  await Promise.all(world.fleet.nodes.flatMap(openOn));
  await Bun.sleep(Math.max(1_000, cause === 'expired' ? expiresAt - now() : 0));
  const endedKey =
    cause === 'expired' ? { mayEndAt: expiresAt, endedAt: expiresAt } : await revoke(world, management, id);
  world.recorder.endedKey({ key: key.id, cause, ...endedKey });

  for (let round = 0; round < 8; round += 1) {
    await Promise.all(
      world.fleet.nodes.flatMap((node) => [
        readRecorded(world, place, node, key),
        readBulkRecorded(world, place, node, { key }),
        ...openOn(node),
      ]),
    );
    await Bun.sleep(250);
  }
}

interface PreparedKey {
  readonly id: string;
  readonly text: string;
  readonly expiresAt: number;
}

async function createKey(management: Management, place: Place, expiresAt: number): Promise<PreparedKey> {
  const isEndless = expiresAt === Number.POSITIVE_INFINITY;
  const { id, key } = await management.createKey(
    place.project,
    [place.environment],
    isEndless ? {} : { expiresAt: new Date(expiresAt).toISOString() },
  );
  return { id, text: key, expiresAt };
}

async function revoke(
  world: World,
  management: Management,
  id: string,
): Promise<{ mayEndAt: number; endedAt: number }> {
  const mayEndAt = now();
  await world.prepare('the end of the key', () => management.revokeKey(id));
  return { mayEndAt, endedAt: now() };
}
