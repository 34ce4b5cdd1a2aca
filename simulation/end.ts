import { DELETED_MARK } from '../packages/server/src/domain/project.ts';
import type { Tables } from './database.ts';
import type { Place } from './fleet.ts';
import { unsealed } from './sessions.ts';
import type { World } from './world.ts';

/** In the end every process of `places` is current and holds the newest state, and so does every stream of it. */
export function checkTheEnd(world: World, places: readonly Place[]): void {
  for (const place of places) checkPlace(world, place);
  const names = new Set(places.map(({ owner }) => owner.name));
  for (const { asked, wish, revision } of world.streams.values()) {
    const newest = world.database.environment(wish.environmentId)?.revision;
    if (revision === newest || asked.mayLack || !names.has(asked.node)) continue;
    world.checks.stuck(
      asked.node,
      `a stream of ${asked.node} is open in the end at revision ${revision}, not ${newest}`,
    );
  }
}

function checkPlace(world: World, place: Place): void {
  const { plane, name, owner } = place;
  // Asked by its own clock.
  const trouble = world.kernel.as(owner, () => {
    if (plane?.freshness.isCurrent) return undefined;
    return plane?.freshness.trouble() ?? 'it never was';
  });
  if (plane === undefined || trouble !== undefined) {
    world.checks.stuck(name, `${name} is not current in the end: ${trouble}`);
    return;
  }
  for (const { id, name: environment, revision } of world.database.environments()) {
    const live = plane.catalog.environmentWithId(id)?.revision;
    if (live === revision || (live === undefined && world.isNarrow(place, environment))) continue;
    world.checks.stuck(name, `${name} has revision ${live} of ${id} in the end, not ${revision}`);
  }
}

/** Compares what a process serves with the tables as they were at its place in the log. */
export function checkCatalog(world: World, place: Place): void {
  const { cursor } = place.plane?.follower ?? {};
  const tables = cursor && world.database.tablesAt({ ...cursor, changeId: unsealed(cursor.changeId) });
  if (place.plane === undefined || tables === undefined) return;
  const [seen, stored] = [servedBy(place.plane), servedOf(tables, world.scopeOf(place))];
  if (stored === undefined || Bun.deepEquals(seen, stored)) return;
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
  readonly environments: readonly string[];
  readonly states: readonly string[];
  readonly keys: readonly string[];
  readonly usage: readonly string[];
}

function servedBy({ catalog }: NonNullable<Place['plane']>): Served {
  const { projects, environments, keys } = catalog.contents();
  return {
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

/** `only`: the names of the environments that the tokens on the way open, if not all. */
function servedOf({ usage, environments, states, keys }: Tables, only?: ReadonlySet<string>): Served {
  const isOpen = (name: string) => only?.has(name.replace(DELETED_MARK, '')) ?? true;
  const open = [...environments.values()].filter(({ name }) => isOpen(name));
  return {
    environments: open.map(({ id, name, revision }) => `${id} ${name} ${revision}`).sort(),
    states: open
      .flatMap(({ id }) => [...(states.get(id) ?? [])].map((state) => `${id} ${state.join(' ')}`))
      .sort(),
    keys: [...keys.values()]
      .filter(({ revokedAt }) => revokedAt === null)
      .flatMap(({ id, environments: names }) => {
        const named = (names as readonly string[]).filter(isOpen).sort();
        return named.length === 0 ? [] : [`${id} ${named}`];
      })
      .sort(),
    usage: [...usage, ...open.flatMap(({ id, projectId }) => (usage.has(projectId) ? [id] : []))].sort(),
  };
}
