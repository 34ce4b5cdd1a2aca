import { Chance } from './chance.ts';
import type { Database } from './database.ts';
import { Disk } from './disk.ts';
import { type FleetParts, Place, type Source, type Token, UPSTREAM_OF } from './fleet.ts';
import { type Kernel, Owner } from './kernel.ts';
import { Link } from './link.ts';
import type { Route } from './network.ts';
import { Standby } from './standby.ts';

/** A narrow token may still be on its way for so long after it was replaced. */
const NARROW_MS = 15_000;

/** How far apart the clocks of database servers are at most, in milliseconds: ages on standbys are differences of two. */
const SERVER_SKEW_MS = 100;

/** The machines of a history and the ways between them. */
export class Layout {
  readonly places: Place[] = [];
  /** The ways between the processes of the fleet and to its clients; every one may fail. */
  readonly links: Link[] = [];
  readonly readerLink: Link;
  readonly clientLink: Link;
  readonly clientOwner = new Owner('clients', 0);
  readonly databaseOwner = new Owner('database', 0);
  /** When each place was last without an environment for certain: a narrow token on its way. */
  readonly narrowUntil = new Map<string, number>();
  readonly #kernel: Kernel;
  readonly #seed: number;
  readonly #chance: Chance;

  constructor(kernel: Kernel, seed: number) {
    this.#kernel = kernel;
    this.#seed = seed;
    this.#chance = Chance.of(seed, 'layout');
    this.readerLink = this.#link('readers', 1);
    // Readers that ask for nothing for a while prove nothing.
    this.links.length = 0;
    this.clientLink = this.#link('clients', 5);
  }

  /** Draws standbys, nodes, workers and relays, and starts them. */
  build(database: Database, parts: Omit<FleetParts, 'databaseOwner'>, token: Token): void {
    const chance = this.#chance;
    const all: FleetParts = { ...parts, databaseOwner: this.databaseOwner };
    const [nodes, relays, isDeep] = [chance.whole(1, 3), chance.whole(0, 4), chance.happens(0.3)];
    const standby = chance.happens(0.3) ? this.#buildStandby(database) : undefined;
    const hasDisks = chance.happens(0.7);

    for (let index = 0; index < nodes; index++) {
      const name = `node-${index}`;
      const link = this.#link(`database-${name}`, chance.between(0.3, 5));
      // The first one stays at the primary: it is what must live while other faults stay.
      const copy = index > 0 && standby && chance.happens(0.7) ? standby : undefined;
      const ofCopy = copy && { server: copy, link: this.#link(`standby-${name}`, chance.between(0.3, 2)) };
      this.#add({ kind: 'database', link, ...(ofCopy && { standby: ofCopy }) }, name, all, hasDisks);
    }
    for (let index = 0; index < relays; index++) {
      const upstream = (isDeep ? this.places.at(-1) : chance.pick(this.places))?.name ?? 'node-0';
      const link = this.#link(`upstream-relay-${index}`, chance.between(0.5, 40));
      this.#add({ kind: 'upstream', link, upstream, token }, `relay-${index}`, all, hasDisks);
    }
    if (chance.happens(0.3)) this.#addWorkers(all, token);
  }

  /** Adds relays below what was built, in two tiers: each of the first has about as many below it as there are of these. */
  buildTree(
    relays: number,
    database: Database,
    parts: Omit<FleetParts, 'databaseOwner'>,
    token: Token,
  ): void {
    const all: FleetParts = { ...parts, database, databaseOwner: this.databaseOwner };
    const first = Math.ceil(Math.sqrt(relays));
    for (let index = 0; index < relays; index++) {
      const upstream = index < first ? 'node-0' : `follower-${index % first}`;
      const link = this.#link(`upstream-follower-${index}`, this.#chance.between(0.5, 40));
      this.#add({ kind: 'upstream', link, upstream, token }, `follower-${index}`, all, false);
    }
  }

  placeNamed(name: string): Place {
    const place = this.places.find((each) => each.name === name);
    if (place === undefined) throw new Error(`there is no ${name}`);
    return place;
  }

  /** A place, the one above it, and so on to the node at the database. */
  wayOf(place: Place): Place[] {
    const { source } = place;
    if (source.kind === 'database') return [place];
    return [place, ...this.wayOf(this.placeNamed(source.upstream))];
  }

  /** The first node, and every place whose log comes from it: what must work while other faults stay. */
  core(): Place[] {
    return this.places.filter((place) => this.wayOf(place).at(-1) === this.places[0]);
  }

  /** The processes that live and die with a node. */
  workersOf({ name }: Place): Place[] {
    return this.places.filter(
      ({ source }) => source.kind === 'upstream' && source.isWorker && source.upstream === name,
    );
  }

  /** The process that keeps the last known flags of a place: its own, or the node of a worker. */
  keeperOf({ source, owner }: Place): Owner {
    return source.kind === 'upstream' && source.isWorker ? this.placeNamed(source.upstream).owner : owner;
  }

  /** The links over which a place gets its log. */
  linksOf({ source }: Place): Link[] {
    return source.kind === 'database' && source.standby
      ? [source.link, source.standby.link, source.standby.server.link]
      : [source.link];
  }

  /**
   * Whether a token on the way from the database to the place opens less, or did a moment ago. A place that is not current keeps
   * what an earlier token left it until it follows again.
   */
  isNarrow(place: Place, projectId: string, environment: string): boolean {
    const isCurrent = this.#kernel.see(place.owner, () => place.plane?.freshness.isCurrent) === true;
    return this.wayOf(place).some(({ name, source }) => {
      if (source.kind === 'database') return false;
      const narrowUntil = this.narrowUntil.get(name) ?? Number.NEGATIVE_INFINITY;
      const isKept = !isCurrent && Number.isFinite(narrowUntil);
      const isRecent = narrowUntil > this.#kernel.now - NARROW_MS;
      return !opens(source.token, projectId, environment) || isKept || isRecent;
    });
  }

  /** Whether a place has everything for certain: no token on its way is narrow, or was lately. */
  isWhole(place: Place): boolean {
    return this.wayOf(place).every(
      ({ name, source }) =>
        source.kind === 'database' || !(this.narrowUntil.has(name) || isNarrowToken(source.token)),
    );
  }

  /** Whether the database has answered a node without delay since its process began. (Spec: S14.9) */
  isUndisturbed({ source, owner }: Place, database: Database): boolean {
    if (source.kind !== 'database' || source.standby !== undefined || owner.pausedUntil > 0) return false;
    const { startedAt } = owner;
    return database.isUp && database.troubledAt < startedAt && source.link.isClearSince(startedAt);
  }

  /** The way of a request from a process to a host name. */
  route(client: Owner, host: string): Route {
    const below = this.places.find(({ owner }) => owner === client);
    const { source } = below ?? {};
    const isUp = source?.kind === 'upstream' && host === `${UPSTREAM_OF}${below?.name}`;
    const place = this.placeNamed(isUp ? source.upstream : host);
    const server = place.isListening ? { owner: place.owner, handle: place.handle } : undefined;
    const ofReaders = client === this.clientOwner ? this.clientLink : this.readerLink;
    return { server, link: source?.link ?? ofReaders };
  }

  /** The files of the machine of a process. */
  filesOf(owner: Owner): Disk['files'] {
    const { name, disk } = this.places.find((place) => place.owner === owner) ?? {};
    if (disk === undefined) throw new Error(`${name ?? owner.name} has no disk`);
    return disk.files;
  }

  /** Ends a process, and those that end with it. Their connections end with them. */
  kill(place: Place): void {
    for (const each of [place, ...this.workersOf(place)]) {
      each.kill();
      each.source.link.reset();
      if (each.source.kind === 'database') each.source.standby?.link.reset();
    }
    this.readerLink.reset();
    this.clientLink.reset();
    for (const { source } of this.places)
      if (source.kind === 'upstream' && source.upstream === place.name) source.link.reset();
  }

  #buildStandby(database: Database): Standby {
    const link = this.#link('primary-standby', this.#chance.between(0.3, 5));
    const skewMs = this.#chance.between(-SERVER_SKEW_MS, SERVER_SKEW_MS);
    const standby = new Standby(this.#kernel, new Owner('standby', 0, skewMs), link, database.copy);
    database.standbys.push(standby);
    return standby;
  }

  #addWorkers(parts: FleetParts, token: Token): void {
    const node = this.#chance.pick(this.places.filter(({ source }) => source.kind === 'database'));
    for (const index of [0, 1]) {
      const name = `worker-${index}`;
      const link = this.#link(name, 0.05);
      this.links.pop();
      const source = { kind: 'upstream', link, upstream: node.name, token, isWorker: true } as const;
      this.#add(source, name, parts, false, node);
    }
  }

  /** `beside`: a place on the same machine, with its disk and its clock. */
  #add(source: Source, name: string, parts: FleetParts, hasDisk: boolean, beside?: Place): void {
    const disk = hasDisk ? new Disk(this.#kernel, Chance.of(this.#seed, `disk ${name}`)) : beside?.disk;
    // Ages of last known flags are differences of a machine's wall clock, which is wrong, but steady.
    const skewMs = beside?.skewMs ?? this.#chance.between(-60_000, 60_000);
    const place = new Place(name, source, parts, skewMs, disk);
    this.places.push(place);
    place.start();
  }

  #link(name: string, delayMs: number): Link {
    const link = new Link(name, this.#kernel, Chance.of(this.#seed, `link ${name}`), delayMs);
    this.links.push(link);
    return link;
  }
}

/** Whether a token opens less than everything. */
export function isNarrowToken({ projects, environments }: Token): boolean {
  return projects !== undefined || environments !== undefined;
}

function opens({ projects, environments }: Token, projectId: string, environment: string): boolean {
  return (projects?.includes(projectId) ?? true) && (environments?.includes(environment) ?? true);
}
