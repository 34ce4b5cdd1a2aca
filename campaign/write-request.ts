import { Management } from '@halyard/testing';
import type { Chance } from '../simulation/chance.ts';
import type { Operation } from './checker/history.ts';
import { managersOf } from './fleet-node.ts';
import { COUNTER, type Place, type World } from './world.ts';

/** How a write is sent. */
export interface WriteRequest {
  readonly method: 'PUT' | 'POST';
  readonly path: string;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly operations: readonly Operation[];
  /** The revision it must follow directly, where it has a condition. */
  readonly expected?: number;
}

/** One of the shapes a change can have: one flag, flags that change together, a flag that comes or goes. */
export async function composeWrite(
  world: World,
  place: Place,
  id: number,
  random: Chance,
): Promise<WriteRequest> {
  const environment = `/api/projects/${place.project}/environments/${place.environment}`;
  const state = { enabled: id % 2 === 0, value: id };
  const shape = random.pick(['put', 'conditional', 'pair', 'pair', 'create', 'delete'] as const);
  if (shape === 'put' || shape === 'conditional') {
    const expected = shape === 'put' ? undefined : await expectedRevision(world, place, random);
    return {
      method: 'PUT',
      path: `${environment}/flags/${COUNTER}`,
      body: state,
      ...(expected === undefined ? { headers: {} } : { headers: { 'If-Match': `"${expected}"` }, expected }),
      operations: [[COUNTER, JSON.stringify(state)]],
    };
  }
  const passing = `passing-${Math.floor(random.between(0, 5))}`;
  const changes = [{ key: COUNTER, state }, ...(shape === 'pair' ? pairOf(state) : [])];
  const last = { key: passing, state: shape === 'delete' ? null : state };
  const all = shape === 'pair' ? changes : [...changes, last];
  return {
    method: 'POST',
    path: `${environment}/changes`,
    body: { changes: all },
    headers: {},
    operations: all.map(
      ({ key, state: next }): Operation => [key, next === null ? null : JSON.stringify(next)],
    ),
  };
}

function pairOf(state: object): { key: string; state: object }[] {
  return [
    { key: 'left', state },
    { key: 'right', state },
  ];
}

/** The counter's revision now, or, now and then, an old one that must be refused. */
async function expectedRevision(world: World, place: Place, random: Chance): Promise<number | undefined> {
  if (random.next() < 0.2) return 1;
  const { url } = random.pick(managersOf(world.fleet));
  try {
    const management = new Management({ url, adminToken: world.fleet.adminToken });
    return (await management.states(place.project, place.environment)).revision;
  } catch {
    // The node is away: the write goes without a condition.
    return undefined;
  }
}
