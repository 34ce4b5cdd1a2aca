import type { Place } from './fleet.ts';
import { isNarrowToken } from './layout.ts';
import type { Fault, FaultKind } from './weather.ts';
import type { World } from './world.ts';

/** How long a narrow scope may outlast the token that had it, where it is not known when a session begins. */
const UNKNOWN_MS = 37_000;

/** After so long, every lost row that some process knew has made a new epoch. */
const EPOCH_MS = 15_000;

type Cause = (world: World, fault: Fault) => void;

/** What each fault does. */
const CAUSES: Record<FaultKind, Cause> = {
  hole: (world, { where, ms }) => {
    const link = at(world.layout.links, where);
    link.dig();
    world.later(ms, () => link.heal());
  },
  slow: (world, { where, ms, how }) => {
    const link = at(world.layout.links, where);
    link.slow(30 + how * 1_500);
    world.later(ms, () => link.slow(0));
  },
  'half open': ({ layout }, { where }) => {
    // Between a relay and what it follows: a session with a database is one connection, of which no half can be modeled.
    const place = relayAt(layout.places, where);
    place?.source.link.forgetConnections();
  },
  'slow then dead': slowThenDead,
  reset: ({ layout }, { where }) => at(layout.links, where).reset(),
  kill: (world, { where, ms }) => {
    const place = at(world.layout.places, where);
    world.layout.kill(place);
    restartLater(world, place, ms);
  },
  'power cut': (world, { where, ms }) => {
    const place = machineOf(world, at(world.layout.places, where));
    world.layout.kill(place);
    place.disk?.cutPower();
    restartLater(world, place, ms);
  },
  'cold start': coldStart,
  'disk full': (world, { where, ms }) => {
    const { disk } = at(world.layout.places, where);
    if (disk === undefined) return;
    disk.isFull = true;
    world.later(ms, () => {
      disk.isFull = false;
    });
  },
  'disk rots': (world, { where }) => {
    const place = at(world.layout.places, where);
    place.disk?.rot();
    for (const each of world.layout.places) if (each.disk === place.disk) each.hasRotted = true;
  },
  stop: (world, { where, ms }) => stop(world, at(world.layout.places, where), ms),
  'stop early': stopEarly,
  pause: ({ layout, kernel }, { where, ms }) => kernel.pause(at(layout.places, where).owner, ms),
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
  'key expires': ({ operators }, { how, where }) =>
    operators.createKey(where % 3 === 0 ? 'p2' : 'p1', 2_000 + how * 20_000),
  environment: ({ operators }) => operators.switchEnvironment(),
  project: ({ operators }) => operators.switchProject(),
  'usage switched': ({ database }) => {
    if (database.isUp) database.switchUsage('p1');
  },
};

/** Lets a fault happen. */
export function cause(world: World, fault: Fault): void {
  world.count(`fault ${fault.kind}`);
  CAUSES[fault.kind](world, fault);
}

/** Starts a process again, with its workers. */
function restartLater(world: World, place: Place, ms: number): void {
  world.later(ms, () => {
    for (const each of [place, ...world.layout.workersOf(place)]) each.start();
  });
}

/** Closes what a process runs, and starts it again once its last work is over. */
function stop(world: World, place: Place, ms: number): void {
  if (!place.owner.isAlive || place.plane === undefined) return;
  place.close();
  world.later(3_000 + ms, () => {
    if (place.plane !== undefined) return;
    world.layout.kill(place);
    restartLater(world, place, 0);
  });
}

/** A process begins over a link that is slow, and is stopped before it has what it asked for. */
function stopEarly(world: World, { where, ms, how }: Fault): void {
  const place = at(machinesOf(world), where);
  const { link } = place.source;
  world.layout.kill(place);
  restartLater(world, place, 0);
  link.slow(100 + how * 400);
  world.later(ms, () => {
    stop(world, place, 0);
    link.slow(0);
  });
}

/** A process begins over a link that is slow, and then gives nothing, in whatever moment of its beginning. */
function slowThenDead(world: World, { where, ms, how }: Fault): void {
  const place = at(machinesOf(world), where);
  const { link } = place.source;
  if (where % 2 === 0) {
    world.layout.kill(place);
    restartLater(world, place, 0);
  }
  link.slow(300 + how * 600);
  world.later(500 + how * 7_000, () => link.dig());
  world.later(8_000 + ms, () => {
    link.slow(0);
    link.heal();
  });
}

/** A process starts while its source is away: all that it can have is what it kept. */
function coldStart(world: World, { where, ms, how }: Fault): void {
  const place = at(machinesOf(world), where);
  world.layout.kill(place);
  if (how < 0.4) place.disk?.cutPower();
  const links = world.layout.linksOf(place);
  for (const link of links) link.dig();
  restartLater(world, place, 300);
  world.later(3_000 + ms, () => {
    for (const link of links) link.heal();
  });
}

/** Behind a pooler the sessions outlive the failover. */
function loseHistory(world: World, rows: number, isPooled: boolean): void {
  const { database } = world;
  const [before, lostBefore] = [database.epochs, database.epochsLost];
  world.count(`rows lost ${database.lose(rows) > 0 ? 'some' : 'none'}`);
  if (database.epochsLost > lostBefore) world.count('epoch lost');
  if (!isPooled) database.loseSessions();
  world.kernel.after(EPOCH_MS, () =>
    world.count(database.epochs > before ? 'epoch begun' : 'epoch not begun'),
  );
}

/** The database fails over and loses rows, and every node that knew them restarts: only relays have seen them. */
function failover(world: World, { how, ms }: Fault): void {
  const nodes = world.layout.places.filter(({ source }) => source.kind === 'database');
  for (const node of nodes) world.layout.kill(node);
  loseHistory(world, 1 + Math.floor(how * 6), false);
  world.later(ms, () => {
    for (const node of nodes) restartLater(world, node, 0);
  });
}

/** Starts a relay again with another token: one that opens all or a part, or one that was made in this moment. */
function rotate(world: World, { where, how }: Fault): void {
  const place = relayAt(world.layout.places, where);
  if (place?.source.kind !== 'upstream' || !place.owner.isAlive) return;
  if (isNarrowToken(place.source.token)) world.layout.narrowUntil.set(place.name, world.kernel.now);
  place.source.token =
    how < 0.75 ? at(world.operators.tokens, Math.floor(how * 4)) : world.operators.createToken();
  // Its file is replaced, and its process goes on.
  if (Math.floor(how * 100) % 2 === 0) {
    world.count('token replaced live');
    return;
  }
  world.layout.kill(place);
  place.start();
}

/** A load balancer leads a relay elsewhere: to a node, or a relay that does not follow it. */
function move(world: World, { where, how }: Fault): void {
  const place = relayAt(world.layout.places, where);
  if (place?.source.kind !== 'upstream') return;
  const above = world.layout.places.slice(0, world.layout.places.indexOf(place));
  const wasWhole = world.layout.isWhole(place);
  place.source.upstream = at(above, Math.floor(how * 1_000)).name;
  place.source.link.reset();
  // What it had there stays until it has a session here.
  if (!wasWhole || !world.layout.isWhole(place))
    world.layout.narrowUntil.set(place.name, world.kernel.now + UNKNOWN_MS);
}

/** A relay is led to a node that stands still for a while: it may know less than the relay. */
function moveBehind(world: World, { where, how, ms }: Fault): void {
  const nodes = world.layout.places.filter(({ source }) => source.kind === 'database');
  const place = relayAt(world.layout.places, where);
  if (place?.source.kind !== 'upstream') return;
  const node = at(nodes, Math.floor(how * 1_000));
  const { source } = place;
  node.source.link.dig();
  world.later(ms + 500, () => node.source.link.heal());
  world.later(200 + how * 500, () => {
    // It keeps what a narrow token above left of its environments, until it has a session there.
    world.layout.narrowUntil.set(place.name, world.kernel.now + UNKNOWN_MS);
    source.upstream = node.name;
    source.link.reset();
  });
}

function relayAt(places: readonly Place[], where: number): Place | undefined {
  const relays = places.filter(({ source }) => source.kind === 'upstream' && !source.isWorker);
  return relays[where % Math.max(1, relays.length)];
}

/** The first key of each project stays, for clients. */
function revokeKey(world: World, where: number): void {
  const { database, truth, operators } = world;
  if (!database.isUp) return;
  operators.createKey(where % 3 === 0 ? 'p2' : 'p1');
  const lasting = new Set([operators.lastingKeyOf('p1'), operators.lastingKeyOf('p2')]);
  const keys = [...truth.keys].filter(
    ([id, { until }]) => until === Number.POSITIVE_INFINITY && !lasting.has(id),
  );
  database.revokeKey(at(keys, where)[0]);
}

/** Where the power of a machine is: a worker's is that of its node, whose disk it has. */
function machineOf({ layout }: World, place: Place): Place {
  return layout.places.find(({ disk }) => disk !== undefined && disk === place.disk) ?? place;
}

/** The places without workers, which have no link that can fail. */
function machinesOf({ layout }: World): Place[] {
  return layout.places.filter(({ source }) => source.kind === 'database' || !source.isWorker);
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('there is nothing to choose from');
  return item;
}
