import type { Place } from './fleet.ts';
import type { Tables } from './log-copy.ts';
import { unsealed } from './sessions.ts';
import type { World } from './world.ts';

/** What is wrong with a part of the fleet. */
export interface Trouble {
  readonly name: string;
  readonly story: string;
}

/** What is not current in `places`, nor, with `isNewest`, at the newest state: the same for each of their streams. */
export function troublesOf(world: World, places: readonly Place[], isNewest: boolean): Trouble[] {
  const ofPlaces = places.flatMap((place) => troublesOfPlace(world, place, isNewest));
  return isNewest ? [...ofPlaces, ...troublesOfStreams(world, places)] : ofPlaces;
}

function troublesOfStreams({ audience, database }: World, places: readonly Place[]): Trouble[] {
  const names = new Set(places.map(({ owner }) => owner.name));
  return [...audience.streams.values()].flatMap(({ asked, revision }) => {
    const newest = database.environment(asked.environmentId)?.revision;
    if (revision === newest || asked.mayLack || !names.has(asked.node)) return [];
    const story = `a stream of ${asked.node} is open in the end at revision ${revision}, not ${newest}`;
    return [{ name: asked.node, story }];
  });
}

function troublesOfPlace(world: World, place: Place, isNewest: boolean): Trouble[] {
  const { plane, name, owner } = place;
  // Asked by its own clock.
  const trouble = world.kernel.see(owner, () => {
    if (plane?.freshness.isCurrent) return undefined;
    return plane?.freshness.trouble() ?? 'it never was';
  });
  if (plane === undefined || trouble !== undefined)
    return [{ name, story: `${name} is not current in the end: ${trouble}` }];
  if (!isNewest) return [];

  return [...world.database.environments()].flatMap(({ id, projectId, name: environment, revision }) => {
    const live = plane.catalog.environmentWithId(id)?.revision;
    const isMissing = live === undefined && world.layout.isNarrow(place, projectId, environment);
    if (live === revision || isMissing) return [];
    return [{ name, story: `${name} has revision ${live} of ${id} in the end, not ${revision}` }];
  });
}

/** Compares what a process serves with the tables as they were at its place in the log. */
export function checkCatalog(world: World, place: Place): void {
  const { cursor } = place.plane?.follower ?? {};
  const tables = cursor && world.database.tablesAt({ ...cursor, changeId: unsealed(cursor.changeId) });
  if (place.plane === undefined || tables === undefined) return;
  const [seen, stored] = [servedBy(place.plane), servedOf(tables)];
  if (Bun.deepEquals(seen, stored)) return;
  const wrong = Object.keys(stored).filter(
    (name) => !Bun.deepEquals(seen[name as keyof Served], stored[name as keyof Served]),
  );
  world.checks.broken(
    'catalog',
    place.owner.name,
    `${place.owner.name} has other ${wrong.join(', ')} at row ${cursor?.seq} than the database had there`,
  );
}

/** What is served, in an order of its own. */
interface Served {
  readonly projects: readonly string[];
  readonly environments: readonly string[];
  readonly states: readonly string[];
  readonly keys: readonly string[];
  readonly usage: readonly string[];
}

function servedBy({ catalog }: NonNullable<Place['plane']>): Served {
  const { projects, environments, keys } = catalog.contents();
  return {
    projects: projects.map(({ id }) => id).sort(),
    environments: environments.map(({ id, name, revision }) => `${id} ${name} ${revision}`).sort(),
    states: environments
      .flatMap(({ id, states }) => states().map((state) => `${id} ${state.join(' ')}`))
      .sort(),
    keys: keys
      .flatMap((each) => [...each])
      .map(({ id, environments: names }) => `${id} ${[...names].sort()}`)
      .sort(),
    usage: [
      ...projects.flatMap(({ id, usage }) => (usage ? [id] : [])),
      ...[...catalog.environments()].flatMap(({ id, wantsUsage }) => (wantsUsage ? [id] : [])),
    ].sort(),
  };
}

function servedOf({ projects, environments, states, keys }: Tables): Served {
  const open = [...environments.values()];
  const usage = [...projects.values()].flatMap((project) => (project.usage ? [project.id] : []));
  return {
    projects: [...projects.keys()].sort(),
    environments: open.map(({ id, name, revision }) => `${id} ${name} ${revision}`).sort(),
    states: open
      .flatMap(({ id }) => [...(states.get(id) ?? [])].map((state) => `${id} ${state.join(' ')}`))
      .sort(),
    keys: [...keys.values()]
      .filter(({ revokedAt }) => revokedAt === null)
      .map(({ id, environments: names }) => `${id} ${[...(names as readonly string[])].sort()}`)
      .sort(),
    usage: [...usage, ...open.flatMap(({ id, projectId }) => (usage.includes(projectId) ? [id] : []))].sort(),
  };
}
