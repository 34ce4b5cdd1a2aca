import { digestOf } from '../packages/server/src/domain/secret.ts';
import { Chance } from './chance.ts';
import { Checks } from './checks.ts';
import { SimulatedClient } from './clients.ts';
import { Database } from './database.ts';
import { checkCatalog } from './end.ts';
import { type FleetParts, Place, relayRecord, type Token, UPSTREAM_OF } from './fleet.ts';
import { type Kernel, Owner } from './kernel.ts';
import { Link } from './link.ts';
import { Network } from './network.ts';
import { followAgain, type OpenStream, readAgain, type Wish } from './readers.ts';
import { Truth } from './truth.ts';
import type { Mode } from './weather.ts';

/** Virtual time without faults at the end: the longest back-off and what the nodes may take. */
export const CALM_MS = 37_000;

/** After this much of it every process is current, and changes must come quickly. */
const SETTLED_MS = 18_000;

/** What a change may take in a calm fleet, besides the ways, in milliseconds. */
const QUICK_MS = 500;

/** A narrow token may still be on its way for so long after it was replaced. */
const NARROW_MS = 15_000;

/** The environments that are there for the whole history: their names by their ids. */
const ENVIRONMENTS = { e0: 'production', e1: 'staging' } as const;

/** The environment that comes and goes. */
const PASSING = 'preview';

/** Everything in one history. */
export class World {
  readonly kernel: Kernel;
  readonly network: Network;
  readonly truth = new Truth();
  readonly database: Database;
  readonly checks: Checks;
  readonly places: Place[] = [];
  readonly links: Link[] = [];
  readonly readerLink: Link;
  readonly clientLink: Link;
  readonly streams = new Map<number, OpenStream>();
  readonly counts = new Map<string, number>();
  readonly tokens: Token[] = [{ text: 'whole' }, { text: 'production', environments: ['production'] }];
  /** When each place was last without an environment for certain: a narrow token on its way. */
  readonly narrowUntil = new Map<string, number>();
  readonly endsAt: number;
  readonly mode: Mode;
  readonly clients: SimulatedClient[] = [];
  readonly #seed: number;
  readonly #chance: Chance;
  readonly #databaseOwner = new Owner('database', 0);
  readonly #readers = new Owner('readers', 0);
  readonly #clientOwner = new Owner('clients', 0);
  #isCalm = false;
  #writes = 0;
  #keys = 0;
  #passing = 0;

  constructor(kernel: Kernel, seed: number, mode: Mode) {
    this.kernel = kernel;
    this.mode = mode;
    this.#seed = seed;
    this.#chance = Chance.of(seed, 'world');
    this.checks = new Checks(kernel, this.truth);
    this.database = new Database(kernel, Chance.of(seed, 'database'), this.truth);
    this.readerLink = this.#link('readers', 1);
    this.links.length = 0;
    this.clientLink = this.#link('clients', 5);
    this.network = new Network(kernel, (client, host) => this.#route(client, host));
    this.endsAt = this.#chance.between(15_000, 60_000);
  }

  /** Builds the fleet and its readers. */
  begin(): void {
    this.#populate();
    this.#buildFleet();
    this.kernel.lookMs = this.#chance.pick([0, 0, 0, 0.02]);
    this.kernel.after(50, () => this.#writeAgain());
    this.kernel.after(10, () => this.#hireReaders(), this.#readers);
    this.kernel.after(20, () => this.#hireClients(), this.#clientOwner);
    this.kernel.after(500, () => this.#lookAgain());
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** Ends a fault that lasts, unless the history has ended its faults before. */
  later(ms: number, end: () => void): void {
    this.kernel.after(ms, () => {
      if (!this.#isCalm && this.mode !== 'safety') end();
    });
  }

  /** Ends the faults of `core`; the others stay. */
  calm(core: readonly Place[]): void {
    this.#isCalm = true;
    const links = new Set(core.map(({ source }) => source.link)).add(this.clientLink);
    for (const link of this.links) {
      if (!links.has(link)) link.dig();
      else {
        link.heal();
        link.slowMs = 0;
      }
    }
    this.database.wakeLoss = 0;
    this.database.start();
    for (const place of core) {
      place.owner.pausedUntil = 0;
      if (place.plane === undefined) place.owner.isAlive = false;
      place.start();
    }
  }

  /** The first node, and every relay whose log comes from it: what must work while other faults stay. */
  core(): Place[] {
    const [first] = this.places;
    const isOver = (place: Place): boolean =>
      place === first ||
      (place.source.kind === 'upstream' && isOver(this.#placeNamed(place.source.upstream)));
    return this.places.filter(isOver);
  }

  /** Creates a key of the environments that there are. */
  createKey(lifeMs?: number): string | undefined {
    if (!this.database.isUp) return undefined;
    const text = `proj_live_${this.#keys++}`;
    this.database.createKey(text, digestOf(text), 'p1', lifeMs);
    return text;
  }

  /** Makes a token that opens all. A relay that has it can do nothing without it, so it is never lost. */
  createToken(): Token {
    const token = { text: `whole-${this.tokens.length}` };
    this.tokens.push(token);
    this.database.createRelay(relayRecord(token));
    this.database.keepWhatIs();
    return token;
  }

  /** Creates the environment that comes and goes, with a key, or deletes it. It is never lost. */
  switchEnvironment(): void {
    if (!this.database.isUp) return;
    const id = `x${this.#passing}`;
    if (this.database.environment(id) !== undefined) this.database.deleteEnvironment(id);
    else {
      const next = `x${++this.#passing}`;
      this.database.createEnvironment(next, 'p1', PASSING);
      this.database.write(next, ++this.#writes);
      this.createKey();
    }
    this.database.keepWhatIs();
  }

  /** Whether a token on the way from the database to the place opens less, or did a moment ago. */
  isNarrow(place: Place, environment: string): boolean {
    for (let each: Place | undefined = place; each !== undefined; ) {
      const { source } = each;
      if (source.kind === 'database') return false;
      if (source.token.environments?.includes(environment) === false) return true;
      if ((this.narrowUntil.get(each.name) ?? 0) > this.kernel.now - NARROW_MS) return true;
      each = this.#placeNamed(source.upstream);
    }
    return false;
  }

  /** The names of the environments that a place has; `undefined` for all. */
  scopeOf(place: Place): ReadonlySet<string> | undefined {
    let only: ReadonlySet<string> | undefined;
    for (let each: Place | undefined = place; each?.source.kind === 'upstream'; ) {
      const { token, upstream } = each.source;
      if (token.environments !== undefined) only = new Set(token.environments);
      each = this.#placeNamed(upstream);
    }
    return only;
  }

  /** Whether the scope of a place is known for certain: no token on its way was replaced lately. */
  isScopeKnown(place: Place): boolean {
    for (let each: Place | undefined = place; each?.source.kind === 'upstream'; ) {
      if (this.narrowUntil.has(each.name) || each.source.token.text === 'production') return false;
      each = this.#placeNamed(each.source.upstream);
    }
    return true;
  }

  #populate(): void {
    for (const [id, name] of Object.entries(ENVIRONMENTS)) {
      this.database.createEnvironment(id, 'p1', name);
      this.database.write(id, ++this.#writes);
    }
    for (const token of this.tokens) this.database.createRelay(relayRecord(token));
    this.createKey();
    this.createKey();
    this.database.keepWhatIs();
  }

  #buildFleet(): void {
    const chance = this.#chance;
    this.network.window = chance.pick([3, 100, 100]);
    // A short window carries few rows a second: then nothing may ask for more.
    const isNarrow = this.network.window < 100;
    const parts: FleetParts = {
      ...{ kernel: this.kernel, database: this.database, databaseOwner: this.#databaseOwner },
      limits: {
        backlogBytes: isNarrow ? 1 << 24 : chance.pick([2_000, 20_000, 1 << 24]),
        maxQueuedBytes: isNarrow ? 1 << 20 : chance.pick([2_000, 1 << 20]),
        loading: chance.pick([1, 4]),
      },
      count: (what) => this.count(what),
      onLateWork: (name, what) => this.checks.broken('closed', name, `${name} was closed before ${what}`),
    };
    const [nodes, relays, isDeep] = [chance.whole(1, 3), chance.whole(0, 4), chance.happens(0.3)];
    for (let index = 0; index < nodes; index++) {
      const link = this.#link(`database-node-${index}`, chance.between(0.3, 5));
      this.#add(new Place(`node-${index}`, { kind: 'database', link }, parts));
    }
    for (let index = 0; index < relays; index++) {
      const upstream = (isDeep ? this.places.at(-1) : chance.pick(this.places))?.name ?? 'node-0';
      const link = this.#link(`upstream-relay-${index}`, chance.between(0.5, 40));
      const [token = { text: 'whole' }] = this.tokens;
      this.#add(new Place(`relay-${index}`, { kind: 'upstream', link, upstream, token }, parts));
    }
    this.database.pageRows = chance.pick([500, 500, 3]);
  }

  #add(place: Place): void {
    this.places.push(place);
    place.start(this.#chance.between(-60_000, 60_000));
  }

  #link(name: string, delayMs: number): Link {
    const link = new Link(name, this.kernel, Chance.of(this.#seed, `link ${name}`), delayMs);
    this.links.push(link);
    return link;
  }

  #route(client: Owner, host: string) {
    const below = this.places.find(({ owner }) => owner === client);
    const name =
      below?.source.kind === 'upstream' && host === `${UPSTREAM_OF}${below.name}`
        ? below.source.upstream
        : host;
    const place = this.#placeNamed(name);
    const server = place.isListening ? { owner: place.owner, handle: place.handle } : undefined;
    const ofReaders = client === this.#clientOwner ? this.clientLink : this.readerLink;
    return { server, link: below?.source.link ?? ofReaders };
  }

  #placeNamed(name: string): Place {
    const place = this.places.find((each) => each.name === name);
    if (place === undefined) throw new Error(`there is no ${name}`);
    return place;
  }

  #writeAgain(): void {
    const chance = this.#chance;
    const pauseMs = chance.happens(0.1) ? chance.between(1_000, 5_000) : chance.between(5, 400);
    if (this.kernel.now > this.endsAt + CALM_MS - 8_000) return;
    this.kernel.after(pauseMs, () => this.#writeAgain());
    const count = chance.happens(0.05) ? chance.whole(5, 60) : 1;
    for (let index = 0; index < count; index++) {
      const environments = [...this.database.environments()];
      this.#write(chance.pick(environments).id);
    }
  }

  /** Some writes are made through a node, which is handed their rows when it learns that they are committed. */
  #write(environmentId: string): void {
    const place = this.#chance.happens(0.5) ? this.#chance.pick(this.places) : undefined;
    if (place?.source.kind !== 'database' || !place.owner.isAlive) {
      if (this.database.isUp) this.database.write(environmentId, ++this.#writes);
      return;
    }
    const { link } = place.source;
    const { owner } = place;
    link.lane()(this.#databaseOwner, () => {
      const committed = this.database.isUp && this.database.write(environmentId, ++this.#writes);
      if (!committed) return;
      link.lane()(owner, () => {
        for (const listener of this.database.listeners)
          if (listener.owner === owner) listener.handOver(committed);
      });
    });
  }

  /** Looks into every process now and then. */
  #lookAgain(): void {
    this.kernel.after(500, () => this.#lookAgain());
    for (const place of this.places) if (this.isScopeKnown(place)) checkCatalog(this, place);
  }

  #hireReaders(): void {
    const isOver = () => false;
    for (const [index, place] of this.places.entries()) {
      const parts = {
        ...{ kernel: this.kernel, checks: this.checks, fetch: this.network.fetch, place },
        chance: Chance.of(this.#seed, `readers of ${place.name}`),
        wish: () => this.#wish(),
        mayLack: (asked: Place, wish: Wish) => this.#mayLack(asked, wish),
        withinMs: (asked: Place) => this.#withinMs(asked),
        count: (what: string) => this.count(what),
      };
      void readAgain(parts, isOver);
      for (const slot of [0, 1]) {
        const opened = (stream: OpenStream | undefined) => {
          if (stream === undefined) this.streams.delete(index * 2 + slot);
          else this.streams.set(index * 2 + slot, stream);
        };
        void followAgain(parts, opened, isOver);
      }
    }
  }

  #hireClients(): void {
    const { kernel, checks, truth } = this;
    const { fetch } = this.network;
    for (const [index, [environmentId, environment]] of Object.entries(ENVIRONMENTS).entries()) {
      const name = `client-${index}`;
      const chance = Chance.of(this.#seed, name);
      const place = this.mode === 'stays' ? 'node-0' : chance.pick(this.places.slice(0, 1)).name;
      const parts = { kernel, chance, checks, truth, fetch, name, place, environmentId, environment };
      const count = (what: string) => this.count(what);
      this.clients.push(new SimulatedClient({ ...parts, key: 'proj_live_0', count }));
    }
  }

  #wish(): Wish {
    const fixed = Object.entries(ENVIRONMENTS);
    const all = this.#passing > 0 ? [...fixed, [`x${this.#passing}`, PASSING] as const] : fixed;
    const [environmentId, environment] = this.#chance.pick(all);
    return { environmentId, environment, key: this.#chance.pick([...this.truth.keys.keys()]) };
  }

  /** Whether a refusal may be right, because the place or the key may be without the environment. */
  #mayLack(place: Place, { environmentId, environment, key }: Wish): boolean {
    const { from = 0, until = 0 } = this.truth.environments.get(environmentId) ?? {};
    const isYoung = from > 0 && this.kernel.now < from + 3_500;
    const isOpen = this.truth.keys.get(key)?.opens.has(environmentId) === true;
    return !isOpen || isYoung || until <= this.kernel.now || this.isNarrow(place, environment);
  }

  /** How long a change may take to a reader of a place: a while once the fleet has settled, any time before. */
  #withinMs(place: Place): number {
    if (this.mode !== 'heals' || this.kernel.now < this.endsAt + SETTLED_MS) return Number.POSITIVE_INFINITY;
    const isSlow = this.kernel.lookMs > 0 || this.database.pageRows < 10 || this.network.window < 100;
    if (isSlow) return Number.POSITIVE_INFINITY;
    let withinMs = QUICK_MS;
    for (let each: Place | undefined = place; each !== undefined; ) {
      withinMs += 6 * each.source.link.delayMs;
      each = each.source.kind === 'upstream' ? this.#placeNamed(each.source.upstream) : undefined;
    }
    return withinMs;
  }
}
