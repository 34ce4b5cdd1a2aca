import type { Chance } from '../simulation/chance.ts';
import { now } from './clock.ts';
import type { Fault } from './faults.ts';
import type { Fleet, FleetNode, PublishedStorage } from './fleet-node.ts';
import type { World } from './world.ts';

/** Trouble with the storage to which nodes publish, and with the node that does. */
export const PUBLISHED_FAULTS: readonly Fault[] = [
  storageFault('storage refused', ({ link }) => link.refuse()),
  storageFault('storage silent', ({ link }) => link.blackhole()),
  storageFault('storage slow', ({ link }, random) => link.delay(random.between(100, 1_500))),
  storageFault('storage failing', ({ server }, random) => {
    server.interfere = () => (random.between(0, 1) < 0.7 ? failure() : undefined);
  }),
  // What was written is there, and its writer does not know.
  storageFault('answers of the storage lost', ({ server }, random) => {
    server.afterWrite = () => (random.between(0, 1) < 0.5 ? failure() : undefined);
  }),
  {
    kind: 'publisher killed',
    run: async (world, random) => {
      const node = await findPublisher(world, random);
      await node.kill();
      await Bun.sleep(random.between(0, 12_000));
      await node.start();
    },
  },
  {
    kind: 'publisher frozen',
    run: async (world, random) => {
      const { name, process } = await findPublisher(world, random);
      const from = now();
      process.pause();
      // Mostly longer than the lease: another node publishes in the meantime.
      await Bun.sleep(random.between(2_000, 20_000));
      process.resume();
      // Its streams cannot be closed by it, as little as without a processor.
      world.recorder.cpuWait({ node: name, from, ms: now() - from });
    },
  },
];

function failure(): Response {
  return new Response('<Code>SlowDown</Code>', { status: 503 });
}

function storageFault(kind: string, harm: (storage: PublishedStorage, random: Chance) => void): Fault {
  return {
    kind,
    run: async ({ fleet }, random) => {
      const storage = storageOf(fleet);
      harm(storage, random);
      await Bun.sleep(random.between(500, 12_000));

      storage.link.restore();
      storage.server.interfere = () => undefined;
      storage.server.afterWrite = () => undefined;
    },
  };
}

/** A node that published something in the last moments; any if none did. */
async function findPublisher({ fleet }: World, random: Chance): Promise<FleetNode> {
  const before = await Promise.all(fleet.nodes.map(countPublished));
  await Bun.sleep(1_500);
  const after = await Promise.all(fleet.nodes.map(countPublished));
  const grown = fleet.nodes.filter((_, index) => (after[index] ?? 0) > (before[index] ?? 0));
  return random.pick(grown.length > 0 ? grown : fleet.nodes);
}

/** How many maps a node has published; 0 if it does not say. */
async function countPublished({ url }: FleetNode): Promise<number> {
  try {
    const answer = await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(5_000) });
    return Number(/^halyard_published_total (\d+)$/m.exec(await answer.text())?.[1] ?? 0);
  } catch {
    // It still recovers from the fault before.
    return 0;
  }
}

function storageOf({ storage }: Fleet): PublishedStorage {
  if (storage === undefined) throw new Error('this fleet does not publish');
  return storage;
}
