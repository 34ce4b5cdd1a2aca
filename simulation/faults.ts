import type { Place } from './fleet.ts';
import type { Fault, FaultKind } from './weather.ts';
import { CALM_MS, type World } from './world.ts';

type Cause = (world: World, fault: Fault) => void;

/** What each fault does. */
const CAUSES: Record<FaultKind, Cause> = {
  hole: (world, { where, ms }) => {
    const link = at(world.links, where);
    link.dig();
    world.later(ms, () => link.heal());
  },
  slow: (world, { where, ms, how }) => {
    const link = at(world.links, where);
    link.slowMs = 30 + how * 1_500;
    world.later(ms, () => {
      link.slowMs = 0;
    });
  },
  reset: ({ links }, { where }) => at(links, where).reset(),
  kill: (world, { where, ms, how }) => {
    const place = at(world.places, where);
    kill(world, place);
    world.later(ms, () => place.start(how * 100_000 - 50_000));
  },
  stop: (world, { where, ms, how }) => {
    const place = at(world.places, where);
    if (!place.owner.isAlive || place.plane === undefined) return;
    place.close();
    // Its last work is over by then.
    world.later(3_000 + ms, () => {
      if (place.plane !== undefined) return;
      kill(world, place);
      place.start(how * 100_000 - 50_000);
    });
  },
  pause: ({ places, kernel }, { where, ms }) => {
    at(places, where).owner.pausedUntil = kernel.now + ms;
  },
  'database away': (world, { ms }) => {
    world.database.stop();
    world.later(ms, () => world.database.start());
  },
  'sessions lost': ({ database }) => database.loseSessions(),
  'wake lost': (world, { ms, how }) => {
    world.database.wakeLoss = how;
    world.later(ms, () => {
      world.database.wakeLoss = 0;
    });
  },
  'history lost': (world, { how, where }) => loseHistory(world, 1 + Math.floor(how * 6), where % 2 === 0),
  pruned: ({ database }, { how }) => database.prune(Math.floor(how * 20)),
  rotate,
  move,
  'move behind': moveBehind,
  failover,
  'key revoked': (world, { where }) => revokeKey(world, where),
  'key expires': (world, { how }) => world.createKey(2_000 + how * 20_000),
  environment: (world) => world.switchEnvironment(),
  'usage switched': ({ database }) => {
    if (database.isUp) database.switchUsage('p1');
  },
};

/** Lets a fault happen. */
export function cause(world: World, fault: Fault): void {
  world.count(`fault ${fault.kind}`);
  CAUSES[fault.kind](world, fault);
}

function kill(world: World, place: Place): void {
  place.kill();
  place.source.link.reset();
  world.readerLink.reset();
  world.clientLink.reset();
  for (const { source } of world.places)
    if (source.kind === 'upstream' && source.upstream === place.name) source.link.reset();
}

/** Behind a pooler the sessions outlive the failover. */
function loseHistory(world: World, rows: number, isPooled: boolean): void {
  const { database } = world;
  const before = database.epochs;
  world.count(`rows lost ${database.lose(rows) > 0 ? 'some' : 'none'}`);
  if (!isPooled) database.loseSessions();
  world.kernel.after(CALM_MS, () =>
    world.count(database.epochs > before ? 'epoch begun' : 'epoch not begun'),
  );
}

/** The database fails over and loses rows, and every node that knew them restarts: only relays have seen them. */
function failover(world: World, { how, ms }: Fault): void {
  const nodes = world.places.filter(({ source }) => source.kind === 'database');
  for (const node of nodes) kill(world, node);
  loseHistory(world, 1 + Math.floor(how * 6), false);
  world.later(ms, () => {
    for (const node of nodes) node.start();
  });
}

/** Starts a relay again with another token: one that opens all or a part, or one that was made in this moment. */
function rotate(world: World, { where, how }: Fault): void {
  const place = relayAt(world, where);
  if (place?.source.kind !== 'upstream' || !place.owner.isAlive) return;
  if (place.source.token.environments !== undefined) world.narrowUntil.set(place.name, world.kernel.now);
  place.source.token = how < 0.67 ? at(world.tokens, Math.floor(how * 3)) : world.createToken();
  kill(world, place);
  place.start();
}

/** A load balancer leads a relay elsewhere: to a node, or a relay that does not follow it. */
function move(world: World, { where, how }: Fault): void {
  const place = relayAt(world, where);
  if (place?.source.kind !== 'upstream') return;
  const above = world.places.slice(0, world.places.indexOf(place));
  place.source.upstream = at(above, Math.floor(how * 1_000)).name;
  place.source.link.reset();
  if (above.some(({ source }) => source.kind === 'upstream' && source.token.environments !== undefined))
    world.narrowUntil.set(place.name, world.kernel.now + CALM_MS);
}

/** A relay is led to a node that stands still for a while: it may know less than the relay. */
function moveBehind(world: World, { where, how, ms }: Fault): void {
  const nodes = world.places.filter(({ source }) => source.kind === 'database');
  const place = relayAt(world, where);
  if (place?.source.kind !== 'upstream') return;
  const node = at(nodes, Math.floor(how * 1_000));
  const { source } = place;
  node.source.link.dig();
  world.later(ms + 500, () => node.source.link.heal());
  world.later(200 + how * 500, () => {
    // It keeps what a narrow token above left of its environments, until it has a session there.
    world.narrowUntil.set(place.name, world.kernel.now + CALM_MS);
    source.upstream = node.name;
    source.link.reset();
  });
}

function relayAt({ places }: World, where: number): Place | undefined {
  const relays = places.filter(({ source }) => source.kind === 'upstream');
  return relays[where % Math.max(1, relays.length)];
}

/** The first key stays, for clients. */
function revokeKey(world: World, where: number): void {
  const { database, truth } = world;
  if (!database.isUp) return;
  world.createKey();
  const keys = [...truth.keys].slice(1).filter(([, { until }]) => until === Number.POSITIVE_INFINITY);
  database.revokeKey(at(keys, where)[0]);
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('there is nothing to choose from');
  return item;
}
