import { Audience } from './audience.ts';
import { Chance } from './chance.ts';
import { Checks } from './checks.ts';
import { Database } from './database.ts';
import { checkCatalog, type Trouble, troublesOf } from './end.ts';
import type { Place } from './fleet.ts';
import type { Kernel } from './kernel.ts';
import { Layout } from './layout.ts';
import { Network } from './network.ts';
import { Operators } from './operators.ts';
import { Truth } from './truth.ts';
import type { Mode } from './weather.ts';

/** How often catalogs are compared with the tables: what is wrong there stays wrong. */
const LOOK_MS = 2_000;

/** What failed before that has nothing to do with a silence of the upstream, in milliseconds. */
const SILENCE_MS = 5_000;

/** Everything in one history. */
export class World {
  readonly kernel: Kernel;
  readonly mode: Mode;
  readonly truth = new Truth();
  readonly checks: Checks;
  readonly database: Database;
  readonly layout: Layout;
  readonly operators: Operators;
  readonly network: Network;
  readonly audience: Audience;
  readonly counts = new Map<string, number>();
  /** When the faults end, in virtual milliseconds. */
  readonly endsAt: number;
  /** How many streams a key may hold open at one process. */
  readonly maxStreamsPerKey: number;
  /** Since when every process is current again and every client ready: from then on, changes must come quickly. */
  settledAt: number | undefined;
  isWriting = true;
  readonly #chance: Chance;
  #isCalm = false;

  constructor(kernel: Kernel, seed: number, mode: Mode) {
    this.kernel = kernel;
    this.mode = mode;
    this.#chance = Chance.of(seed, 'world');
    this.checks = new Checks(kernel, this.truth);
    this.database = new Database(kernel, Chance.of(seed, 'database'), this.truth);
    this.layout = new Layout(kernel, seed);
    this.operators = new Operators(kernel, Chance.of(seed, 'operators'), this.database, this.layout);
    this.network = new Network(kernel, (client, host) => this.layout.route(client, host));
    this.audience = new Audience(this, seed);
    this.endsAt = this.#chance.between(15_000, 60_000);
    this.maxStreamsPerKey = this.#chance.pick([1, Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
  }

  /** Builds the fleet, with so many more relays, and its readers. */
  begin(followers: number): void {
    const { kernel, database, operators, layout } = this;
    operators.populate();
    const token = operators.tokens[0] ?? { text: 'whole' };
    const parts = {
      kernel,
      database,
      limits: this.#limits(),
      count: (what: string) => this.count(what),
      onSilent: (place: Place) => this.#checkSilence(place),
      broken: (kind: 'closed' | 'disk', name: string, story: string) => this.checks.broken(kind, name, story),
    };
    layout.build(database, parts, token);
    layout.buildTree(followers, database, parts, token);
    // In ticks of the kernel.
    kernel.lookMs = this.#chance.pick([0, 0, 0, 20 / 1_024]);
    kernel.after(50, () => operators.writeAgain(() => !this.isWriting));
    this.audience.begin();
    kernel.after(LOOK_MS, () => this.#lookAgain());
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
    const { kernel, layout, database } = this;
    const healed = new Set([layout.clientLink, ...core.flatMap((place) => layout.linksOf(place))]);
    for (const link of layout.links) {
      if (!healed.has(link)) link.dig();
      else {
        link.heal();
        link.slow(0);
      }
    }
    database.wakeLoss = 0;
    database.start();
    for (const place of core) {
      kernel.resume(place.owner);
      if (place.disk) place.disk.isFull = false;
      // One that was closed, and has other work.
      if (place.plane === undefined && place.owner.isAlive) layout.kill(place);
      place.start();
    }
  }

  /** What is still wrong with a part of the fleet and the clients. */
  troubles(core: readonly Place[], isNewest: boolean): readonly Trouble[] {
    return [...this.troublesOfPlaces(core, isNewest), ...this.troublesOfClients(isNewest)];
  }

  /** What is still wrong with a part of the fleet and its streams. */
  troublesOfPlaces(core: readonly Place[], isNewest: boolean): readonly Trouble[] {
    return troublesOf(this, core, isNewest);
  }

  /** What is still wrong with the clients. */
  troublesOfClients(isNewest: boolean): readonly Trouble[] {
    return this.audience.clients.flatMap((client) => client.troubles(isNewest));
  }

  /** Settings of the processes: small ones, so that histories reach the limits. */
  #limits() {
    const chance = this.#chance;
    this.network.window = chance.pick([3, 100, 100]);
    this.database.pageRows = chance.pick([500, 500, 3]);
    // A short window carries few rows a second: then nothing may ask for more.
    const isNarrow = this.network.window < 100;
    return {
      backlogBytes: isNarrow ? 1 << 24 : chance.pick([2_000, 20_000, 1 << 24]),
      maxQueuedBytes: isNarrow ? 1 << 20 : chance.pick([2_000, 1 << 20]),
      loading: chance.pick([1, 4]),
      maxStreamsPerKey: this.maxStreamsPerKey,
    };
  }

  /** A node whose source is slow says so to the relays below, again and again: they do not take it for dead. */
  #checkSilence(place: Place): void {
    const { kernel, layout, checks } = this;
    const [, above] = layout.wayOf(place);
    const since = kernel.now - SILENCE_MS;
    const isDisturbed = [place, above].some(
      (each) =>
        each === undefined ||
        !each.owner.isAlive ||
        each.owner.startedAt > since ||
        each.owner.pausedUntil > since,
    );
    if (isDisturbed || !place.source.link.isClearSince(since)) return;
    checks.broken(
      'silent',
      place.owner.name,
      `${place.owner.name} heard nothing of ${above?.name}, which is there`,
    );
  }

  /** Looks into every process now and then. */
  #lookAgain(): void {
    this.kernel.after(LOOK_MS, () => this.#lookAgain());
    for (const place of this.layout.places) if (this.layout.isWhole(place)) checkCatalog(this, place);
  }
}
