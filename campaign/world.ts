import { Management } from '@halyard/testing';
import type { Fleet, FleetNode } from './fleet.ts';
import type { Random } from './random.ts';
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

/** What the campaign acts on: two projects whose environments have equal names. */
export interface World {
  readonly places: readonly Place[];
  readonly random: Random;
  readonly recorder: Recorder;
  readonly fleet: Fleet;
}

/** Makes projects, keys and first states, and records them as the base of the history. */
export async function createWorld(fleet: Fleet, recorder: Recorder, random: Random): Promise<World> {
  const [first] = fleet.nodes;
  if (first === undefined) throw new Error('a fleet has a node');
  const management = new Management({ url: first.url, adminToken: fleet.adminToken });
  const places: Place[] = [];
  for (const project of ['shop', 'blog']) {
    await management.createProject(project);
    const { key } = await management.createKey(project, ['production', 'staging']);
    for (const environment of ['production', 'staging']) {
      const place = { name: `${project}/${environment}`, project, environment, key };
      places.push(place);
      await layBase(management, place, -places.length, recorder);
    }
  }
  const world = { places, random, recorder, fleet };
  await Promise.all(fleet.nodes.flatMap((node) => places.map((place) => untilKnown(node, place))));
  return world;
}

/** Other nodes learn of a key and of flags a moment later than the one that made them. */
async function untilKnown(node: FleetNode, place: Place): Promise<void> {
  const deadline = Date.now() + 10_000;
  for (;;) {
    const answer = await fetch(`${node.url}/v1/flags/right?env=${place.environment}`, {
      headers: { 'X-Service-Key': place.key },
    });
    await answer.body?.cancel();
    if (answer.ok) return;
    if (Date.now() > deadline)
      throw new Error(`${node.name} never learned of ${place.name}: ${answer.status}`);
    await Bun.sleep(20);
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
