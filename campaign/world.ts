import { Management, ManagementError, until } from '@halyard/testing';
import type { Chance } from '../simulation/chance.ts';
import { type Fleet, type FleetNode, managersOf } from './fleet-node.ts';
import { prepare } from './preparation.ts';
import type { Recorder } from './recorder.ts';

/** The flag that every write sets to its own id. */
export const COUNTER = 'counter';

/** An environment in which writers write. */
export interface Place {
  /** `project/environment`. */
  readonly name: string;
  readonly project: string;
  readonly environment: string;
  /** A key that opens it and never ends. */
  readonly key: string;
}

/** The world of a campaign: two projects whose environments have equal names. */
export interface World {
  readonly places: readonly Place[];
  readonly random: Chance;
  readonly recorder: Recorder;
  readonly fleet: Fleet;
  /** Does what is safe to repeat until the fleet takes it; see {@link prepare}. */
  readonly prepare: <T>(step: string, work: () => Promise<T>) => Promise<T>;
}

/** Makes projects, keys and first states, and records them as the base of the history. */
export async function createWorld(
  fleet: Fleet,
  recorder: Recorder,
  random: Chance,
  preparationMs?: number,
): Promise<World> {
  const [first] = managersOf(fleet);
  if (first === undefined) throw new Error('a fleet has a node');
  const management = new Management({ url: first.url, adminToken: fleet.adminToken });
  const places: Place[] = [];
  const world: World = {
    places,
    random,
    recorder,
    fleet,
    prepare: (step, work) => prepare(step, work, preparationMs),
  };
  for (const project of ['shop', 'blog']) {
    await world.prepare(`the project ${project}`, () => createProject(management, project));
    const { key } = await world.prepare('its key', () =>
      management.createKey(project, ['production', 'staging']),
    );
    for (const environment of ['production', 'staging']) {
      const place = { name: `${project}/${environment}`, project, environment, key };
      places.push(place);
      const id = -places.length;
      await world.prepare('the first flags', () => layBase(management, place, id, recorder));
    }
  }
  await Promise.all(fleet.nodes.flatMap((node) => places.map((place) => untilKnown(node, place))));
  return world;
}

/**
 * Waits until the node grants the key of `place`, or `isOver` says that it no longer should: other nodes learn of keys
 * and of flags a moment later than the one that made them.
 */
export async function untilKnown(node: FleetNode, place: Place, isOver = () => false): Promise<void> {
  const event = `${node.name} knows the key and the flags of ${place.name}`;
  await until(event, async () => isOver() || (await isKnown(node, place)), 30_000);
}

/** Requests for each worker of a node: the system hands connections out at random, and one in a thousand rounds misses a worker. */
const ASKS_PER_WORKER = 10;

/** Each worker has its own copy of the flags. */
async function isKnown(node: FleetNode, place: Place): Promise<boolean> {
  const asks = node.workers === 1 ? 1 : ASKS_PER_WORKER * node.workers;
  const answers = await Promise.all(Array.from({ length: asks }, () => isGranted(node, place)));
  return answers.every(Boolean);
}

async function isGranted(node: FleetNode, place: Place): Promise<boolean> {
  try {
    const answer = await fetch(`${node.url}/v1/flags/right?env=${place.environment}`, {
      headers: { 'X-Service-Key': place.key },
      signal: AbortSignal.timeout(5_000),
      keepalive: false,
    });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    // It does not answer yet.
    return false;
  }
}

/** Makes a project, also where an earlier attempt did without saying so. */
async function createProject(management: Management, name: string): Promise<void> {
  try {
    await management.createProject(name);
  } catch (error) {
    if (!(error instanceof ManagementError && error.status === 409)) throw error;
  }
}

/** Base ids are negative and differ, so that even an untouched map names its environment. */
async function layBase(management: Management, place: Place, id: number, recorder: Recorder): Promise<void> {
  const flags = {
    [COUNTER]: { enabled: true, value: id },
    left: { enabled: false },
    right: { enabled: false },
  };
  const changes = Object.entries(flags).map(([key, state]) => ({ key, state }));
  const { revision } = await management.change(place.project, place.environment, changes);
  recorder.base(place.name, { revision, content: JSON.stringify(flags) });
}
