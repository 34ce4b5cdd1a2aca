import { Management } from '@halyard/testing';
import { now } from './clock.ts';
import type { Random } from './random.ts';
import { openRecorded } from './reader.ts';
import { readRecorded } from './rest-reader.ts';
import { untilKnown, type World } from './world.ts';

let guests = 0;

/**
 * Makes a key, opens a stream with it on every node, and ends the key while changes go on. Its readers keep asking
 * after that, as a client with an old key would; what they get is for the checker to judge.
 */
export async function endKeyWithOpenStreams(
  world: World,
  random: Random,
  cause: 'revoked' | 'expired',
): Promise<void> {
  const place = random.pick(world.places);
  const through = random.pick(world.fleet.nodes);
  const management = new Management({ url: through.url, adminToken: world.fleet.adminToken });
  const { id, text, expiresAt } = await world.prepare('the key', async () => {
    // The end lies ahead of each attempt: a refused one may have taken longer than a key lives here.
    const expiresAt = cause === 'expired' ? Math.ceil(now() + 2_500) : Number.POSITIVE_INFINITY;
    const created = await management.createKey(place.project, [place.environment], {
      ...(cause === 'expired' ? { expiresAt: new Date(expiresAt).toISOString() } : {}),
    });
    return { id: created.id, text: created.key, expiresAt };
  });
  const key = { id, text };
  await Promise.all(
    world.fleet.nodes.map((node) => untilKnown(node, { ...place, key: text }, () => now() > expiresAt)),
  );
  guests += 1;
  const name = `guest-${guests}`;
  await Promise.all(
    world.fleet.nodes.map((node) => openRecorded(world, `${name}-${node.name}`, place, node, key)),
  );
  await Bun.sleep(Math.max(1_000, cause === 'expired' ? expiresAt - now() : 0));
  const endedKey =
    cause === 'expired' ? { mayEndAt: expiresAt, endedAt: expiresAt } : await revoke(world, management, id);
  world.recorder.endedKey({ key: key.id, cause, ...endedKey });
  for (let round = 0; round < 8; round += 1) {
    await Promise.all(
      world.fleet.nodes.flatMap((node) => [
        readRecorded(world, place, node, key),
        openRecorded(world, `${name}-${node.name}`, place, node, key),
      ]),
    );
    await Bun.sleep(250);
  }
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
