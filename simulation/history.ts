import { digestOf } from '../packages/server/src/domain/secret.ts';
import { Chance } from './chance.ts';
import { Checks, type Violation } from './checks.ts';
import { Database } from './database.ts';
import { Place, relayRecord, type Token, UPSTREAM_OF } from './fleet.ts';
import { takeOver } from './globals.ts';
import { Kernel, Owner } from './kernel.ts';
import { Link } from './link.ts';
import { Network } from './network.ts';
import { followAgain, type OpenStream, readAgain, type Wish } from './readers.ts';
import { Truth } from './truth.ts';
import { drawWeather, type Fault, type FaultKind } from './weather.ts';

/** What to simulate. */
export interface HistoryOptions {
  readonly seed: number;
  /** Only these faults; default all that the seed chooses. */
  readonly kinds?: readonly FaultKind[];
  /** These faults instead of drawn ones. */
  readonly faults?: readonly Fault[];
}

/** What came of it. */
export interface HistoryResult {
  readonly seed: number;
  readonly faults: readonly Fault[];
  readonly violations: readonly Violation[];
  /** Equal for equal seeds. */
  readonly digest: number;
  readonly events: number;
  readonly virtualMs: number;
  /** How often what happened: reads and streams by status, faults by kind, epochs. */
  readonly counts: ReadonlyMap<string, number>;
  /** What the processes logged. */
  readonly said: readonly string[];
}

/** Virtual time without faults at the end: the longest back-off and what the nodes may take. */
const CALM_MS = 37_000;

/** The environments of the world: their names by their ids. */
const ENVIRONMENTS = { e0: 'production', e1: 'staging' } as const;

const TOKENS: readonly Token[] = [
  { text: 'whole' },
  { text: 'production', environments: ['production'] },
  { text: 'whole-again' },
];

/** Runs one history in virtual time, to its end, in this turn of the real event loop. */
export function simulate(options: HistoryOptions): HistoryResult {
  const kernel = new Kernel(options.seed);
  const world = new World(kernel, options);
  const giveBack = takeOver(kernel, world.network.fetch);
  try {
    return world.run();
  } finally {
    giveBack();
  }
}

/** Everything in one history. */
class World {
  readonly network: Network;
  readonly #kernel: Kernel;
  readonly #options: HistoryOptions;
  readonly #chance: Chance;
  readonly #truth = new Truth();
  readonly #database: Database;
  readonly #databaseOwner = new Owner('database', 0);
  readonly #readers = new Owner('readers', 0);
  readonly #checks: Checks;
  readonly #places: Place[] = [];
  readonly #links: Link[] = [];
  readonly #readerLink: Link;
  readonly #streams = new Map<number, OpenStream>();
  readonly #counts = new Map<string, number>();
  /** When each place was last without an environment for certain: a narrow token on its way. */
  readonly #narrowUntil = new Map<string, number>();
  readonly #endsAt: number;
  #writes = 0;
  #keys = 0;
  readonly #faults: readonly Fault[];

  constructor(kernel: Kernel, options: HistoryOptions) {
    this.#kernel = kernel;
    this.#options = options;
    this.#chance = Chance.of(options.seed, 'world');
    this.#checks = new Checks(kernel, this.#truth);
    this.#database = new Database(kernel, Chance.of(options.seed, 'database'), this.#truth);
    this.#readerLink = this.#link('readers', 1);
    this.#links.length = 0;
    this.network = new Network(kernel, (client, host) => this.#route(client, host));
    const seconds = this.#chance.between(15, 60);
    this.#endsAt = seconds * 1_000;
    this.#faults = options.faults ?? drawWeather(options.seed, seconds, options.kinds);
  }

  run(): HistoryResult {
    const kernel = this.#kernel;
    this.#populate();
    this.#buildFleet();
    for (const fault of this.#faults) kernel.after(fault.at, () => this.#cause(fault));
    kernel.after(this.#endsAt, () => this.#calm());
    kernel.after(50, () => this.#writeAgain());
    kernel.after(10, () => this.#hireReaders(), this.#readers);

    const end = this.#endsAt + CALM_MS;
    kernel.runUntil(end);
    this.#checkTheEnd();
    return {
      ...{ seed: this.#options.seed, faults: this.#faults, violations: this.#checks.violations },
      ...{ digest: kernel.digest, events: kernel.events, virtualMs: end, counts: this.#counts },
      said: this.#places.flatMap(({ said }) => said),
    };
  }

  #populate(): void {
    for (const [id, name] of Object.entries(ENVIRONMENTS)) {
      this.#database.createEnvironment(id, 'p1', name);
      this.#database.write(id, ++this.#writes);
    }
    for (const token of TOKENS) this.#database.createRelay(relayRecord(token));
    this.#createKey();
    this.#createKey();
    this.#database.keepWhatIs();
  }

  #createKey(): void {
    const text = `proj_live_${this.#keys++}`;
    this.#database.createKey(text, digestOf(text), 'p1', Object.values(ENVIRONMENTS));
  }

  #buildFleet(): void {
    const nodes = this.#chance.whole(1, 3);
    const relays = this.#chance.whole(0, 4);
    for (let index = 0; index < nodes; index++) {
      const link = this.#link(`database-node-${index}`, this.#chance.between(0.3, 5));
      this.#add(
        new Place(
          `node-${index}`,
          { kind: 'database', link },
          this.#kernel,
          this.#database,
          this.#databaseOwner,
        ),
      );
    }
    for (let index = 0; index < relays; index++) {
      const upstream = this.#chance.pick(this.#places).name;
      const link = this.#link(`upstream-relay-${index}`, this.#chance.between(0.5, 40));
      const token = TOKENS[0] as Token;
      const source = { kind: 'upstream', link, upstream, token } as const;
      this.#add(new Place(`relay-${index}`, source, this.#kernel, this.#database, this.#databaseOwner));
    }
    this.#database.pageRows = this.#chance.pick([500, 500, 3]);
  }

  #add(place: Place): void {
    this.#places.push(place);
    place.start(this.#chance.between(-60_000, 60_000));
  }

  #link(name: string, delayMs: number): Link {
    const link = new Link(name, this.#kernel, Chance.of(this.#options.seed, `link ${name}`), delayMs);
    this.#links.push(link);
    return link;
  }

  #route(client: Owner, host: string) {
    const below = this.#places.find(({ owner }) => owner === client);
    const name =
      below?.source.kind === 'upstream' && host === `${UPSTREAM_OF}${below.name}`
        ? below.source.upstream
        : host;
    const place = this.#placeNamed(name);
    const server = place.isListening ? { owner: place.owner, handle: place.handle } : undefined;
    return { server, link: below?.source.link ?? this.#readerLink };
  }

  #placeNamed(name: string): Place {
    const place = this.#places.find((each) => each.name === name);
    if (place === undefined) throw new Error(`there is no ${name}`);
    return place;
  }

  #writeAgain(): void {
    const pauseMs = this.#chance.happens(0.1)
      ? this.#chance.between(1_000, 5_000)
      : this.#chance.between(5, 400);
    if (this.#kernel.now > this.#endsAt + CALM_MS - 8_000) return;
    this.#kernel.after(pauseMs, () => this.#writeAgain());
    if (!this.#database.isUp) return;
    const count = this.#chance.happens(0.05) ? this.#chance.whole(5, 60) : 1;
    for (let index = 0; index < count; index++)
      this.#database.write(this.#chance.pick(Object.keys(ENVIRONMENTS)), ++this.#writes);
  }

  #hireReaders(): void {
    const isOver = () => false;
    for (const [index, place] of this.#places.entries()) {
      const parts = {
        ...{ kernel: this.#kernel, checks: this.#checks, fetch: this.network.fetch, place },
        chance: Chance.of(this.#options.seed, `readers of ${place.name}`),
        wish: () => this.#wish(),
        mayLack: (asked: Place, environment: string) => this.#mayLack(asked, environment),
        count: (what: string) => this.#count(what),
      };
      void readAgain(parts, isOver);
      for (const slot of [0, 1]) {
        const opened = (stream: OpenStream | undefined) => {
          if (stream === undefined) this.#streams.delete(index * 2 + slot);
          else this.#streams.set(index * 2 + slot, stream);
        };
        void followAgain(parts, opened, isOver);
      }
    }
  }

  #wish(): Wish {
    const [environmentId, environment] = this.#chance.pick(Object.entries(ENVIRONMENTS));
    const keys = [...this.#truth.keys.keys()];
    return { environmentId, environment, key: this.#chance.pick(keys) };
  }

  /** Whether a token on the way from the database to the place opens less, or did a moment ago. */
  #mayLack(place: Place, environment: string): boolean {
    for (let each: Place | undefined = place; each !== undefined; ) {
      const { source } = each;
      if (source.kind === 'database') return false;
      if (source.token.environments?.includes(environment) === false) return true;
      if ((this.#narrowUntil.get(each.name) ?? 0) > this.#kernel.now - 15_000) return true;
      each = this.#placeNamed(source.upstream);
    }
    return false;
  }

  #cause({ kind, ms, where, how }: Fault): void {
    this.#count(`fault ${kind}`);
    const link = at(this.#links, where);
    const place = at(this.#places, where);
    const after = (work: () => void, delayMs = ms) => this.#kernel.after(delayMs, work);
    if (kind === 'hole') {
      link.dig();
      after(() => link.heal());
    } else if (kind === 'slow') {
      link.slowMs = 30 + how * 1_500;
      after(() => {
        link.slowMs = 0;
      });
    } else if (kind === 'reset') link.reset();
    else if (kind === 'kill') {
      this.#kill(place);
      after(() => place.start(how * 100_000 - 50_000));
    } else if (kind === 'pause') place.owner.pausedUntil = this.#kernel.now + ms;
    else if (kind === 'database away') {
      this.#database.stop();
      after(() => this.#database.start());
    } else if (kind === 'sessions lost') this.#database.loseSessions();
    else if (kind === 'wake lost') {
      this.#database.wakeLoss = how;
      after(() => {
        this.#database.wakeLoss = 0;
      });
    } else if (kind === 'history lost') this.#loseHistory(1 + Math.floor(how * 6), where % 2 === 0);
    else if (kind === 'pruned') this.#database.prune(Math.floor(how * 20));
    else if (kind === 'rotate') this.#rotate(where, how);
    else if (kind === 'move') this.#move(where, how);
    else if (kind === 'key revoked') this.#revokeKey(where);
  }

  #kill(place: Place): void {
    place.kill();
    place.source.link.reset();
    this.#readerLink.reset();
    for (const { source } of this.#places)
      if (source.kind === 'upstream' && source.upstream === place.name) source.link.reset();
  }

  /** Behind a pooler the sessions outlive the failover. */
  #loseHistory(rows: number, isPooled: boolean): void {
    if (!this.#database.isUp) return;
    const before = this.#database.epochs;
    this.#count(`rows lost ${this.#database.lose(rows) > 0 ? 'some' : 'none'}`);
    if (!isPooled) this.#database.loseSessions();
    this.#kernel.after(CALM_MS, () =>
      this.#count(this.#database.epochs > before ? 'epoch begun' : 'epoch not begun'),
    );
  }

  /** Starts a relay again with another token. */
  #rotate(where: number, how: number): void {
    const relays = this.#places.filter(({ source }) => source.kind === 'upstream');
    const place = relays[where % Math.max(1, relays.length)];
    if (place === undefined || place.source.kind !== 'upstream' || !place.owner.isAlive) return;
    if (place.source.token.environments !== undefined) this.#narrowUntil.set(place.name, this.#kernel.now);
    place.source.token = at(TOKENS, Math.floor(how * TOKENS.length));
    this.#kill(place);
    place.start();
  }

  /** A load balancer leads a relay elsewhere: to a node, or a relay that does not follow it. */
  #move(where: number, how: number): void {
    const relays = this.#places.filter(({ source }) => source.kind === 'upstream');
    const place = relays[where % Math.max(1, relays.length)];
    if (place?.source.kind !== 'upstream') return;
    const above = this.#places.slice(0, this.#places.indexOf(place));
    place.source.upstream = at(above, Math.floor(how * 1_000)).name;
    place.source.link.reset();
    if (above.some(({ source }) => source.kind === 'upstream' && source.token.environments !== undefined))
      this.#narrowUntil.set(place.name, this.#kernel.now + CALM_MS);
  }

  #revokeKey(where: number): void {
    const keys = [...this.#truth.keys].filter(([, { until }]) => until === Number.POSITIVE_INFINITY);
    if (!this.#database.isUp) return;
    this.#createKey();
    const [text] = at(keys, where);
    this.#database.revokeKey(text);
  }

  /** Ends every fault that lasts. */
  #calm(): void {
    for (const link of this.#links) {
      link.heal();
      link.slowMs = 0;
    }
    this.#database.wakeLoss = 0;
    this.#database.start();
    for (const place of this.#places) {
      place.owner.pausedUntil = 0;
      place.start();
    }
  }

  /** P6: in the end everybody is current and holds the newest state. */
  #checkTheEnd(): void {
    for (const place of this.#places) {
      const { plane, name, owner } = place;
      // Asked by its own clock.
      const trouble = this.#kernel.as(owner, () => this.#troubleOf(place));
      if (plane === undefined || trouble !== undefined) {
        this.#checks.stuck(name, `${name} is not current in the end: ${trouble}`);
        continue;
      }
      for (const [id, environment] of Object.entries(ENVIRONMENTS)) {
        const live = plane.catalog.environmentWithId(id);
        if (live === undefined && this.#mayLack(place, environment)) continue;
        const revision = this.#database.environment(id)?.revision;
        if (live?.revision !== revision)
          this.#checks.stuck(
            name,
            `${name} has revision ${live?.revision} of ${id} in the end, not ${revision}`,
          );
      }
    }
    for (const { asked, wish, revision } of this.#streams.values()) {
      const newest = this.#database.environment(wish.environmentId)?.revision;
      if (revision !== newest && !asked.mayLack)
        this.#checks.stuck(
          asked.node,
          `a stream of ${asked.node} is open in the end at revision ${revision}, not ${newest}`,
        );
    }
  }

  #troubleOf({ plane }: Place): string | undefined {
    if (plane?.freshness.isCurrent) return undefined;
    return plane?.freshness.trouble() ?? 'it never was';
  }

  #count(what: string): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + 1);
  }
}

function at<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('there is nothing to choose from');
  return item;
}
