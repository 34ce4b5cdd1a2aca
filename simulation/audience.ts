import { Chance } from './chance.ts';
import { SimulatedClient } from './clients.ts';
import type { Place } from './fleet.ts';
import { Owner } from './kernel.ts';
import { LASTING } from './operators.ts';
import { followAgain, type OpenStream, type ReaderParts, readAgain, readOnce, type Wish } from './readers.ts';
import type { World } from './world.ts';

/** What a change may take in a calm fleet, besides the ways, in milliseconds. */
const QUICK_MS = 500;

/** What a node on a standby needs more: it asks five times a second. */
const POLL_MS = 300;

/** Everyone who reads flags: of each place, and with the client library. */
export class Audience {
  readonly streams = new Map<string, OpenStream>();
  readonly clients: SimulatedClient[] = [];
  readonly #world: World;
  readonly #chance: Chance;
  readonly #seed: number;
  readonly #readers = new Owner('readers', 0);

  constructor(world: World, seed: number) {
    this.#world = world;
    this.#seed = seed;
    this.#chance = Chance.of(seed, 'wishes');
  }

  begin(): void {
    const { kernel, layout } = this.#world;
    kernel.after(10, () => this.#hireReaders(), this.#readers);
    kernel.after(20, () => this.#hireClients(), layout.clientOwner);
  }

  #hireReaders(): void {
    const world = this.#world;
    for (const place of world.layout.places) {
      const parts: ReaderParts = {
        kernel: world.kernel,
        checks: world.checks,
        fetch: world.network.fetch,
        place,
        chance: Chance.of(this.#seed, `readers of ${place.name}`),
        wish: () => this.#wish(),
        mayLack: (asked, wish) => this.#mayLack(asked, wish),
        keeperOf: (asked) => world.layout.keeperOf(asked),
        isUndisturbed: (asked) => world.layout.isUndisturbed(asked, world.database),
        withinMs: (asked, writtenAt) => this.#withinMs(asked, writtenAt),
        count: (what) => world.count(what),
      };
      void readAgain(parts);
      // Some ask the moment it listens.
      place.onListening = () => {
        world.kernel.after(0, () => void readOnce(parts), this.#readers);
      };
      for (const form of ['maps', 'changes'] as const) {
        const name = `${place.name} ${form}`;
        void followAgain(parts, form, (stream) => {
          if (stream === undefined) this.streams.delete(name);
          else this.streams.set(name, stream);
        });
      }
    }
  }

  #hireClients(): void {
    const world = this.#world;
    const { kernel, checks, truth, layout, operators } = world;
    for (const { id, projectId, name: environment } of LASTING) {
      const name = `client-${id}`;
      this.clients.push(
        new SimulatedClient({
          kernel,
          chance: Chance.of(this.#seed, name),
          checks,
          truth,
          fetch: world.network.fetch,
          name,
          place: layout.placeNamed('node-0'),
          link: layout.clientLink,
          environmentId: id,
          environment,
          key: operators.lastingKeyOf(projectId),
          count: (what) => world.count(what),
          mayPoll: Number.isFinite(world.maxStreamsPerKey),
          isSettled: () => world.settledAt !== undefined,
          lacksEpoch: () => world.database.lacksEpoch,
        }),
      );
    }
  }

  /** Any key, and mostly an environment of its project, of those that there are or were. */
  #wish(): Wish {
    const { truth } = this.#world;
    const key = this.#chance.pick([...truth.keys.keys()]);
    const projectId = truth.keys.get(key)?.projectId;
    const [lasting, passing] = [LASTING, [...truth.environments].slice(LASTING.length).slice(-3)];
    const all = [...lasting, ...passing.map(([id, facts]) => ({ id, ...facts }))];
    const wanted = this.#chance.pick(all).name;
    // A name means the newest environment of it in the project of the key.
    const meant = all.findLast((each) => each.projectId === projectId && each.name === wanted);
    return { environmentId: meant?.id ?? '', environment: wanted, key, projectId: projectId ?? '' };
  }

  /** Whether a refusal may be right, because the place or the key may be without the environment. */
  #mayLack(place: Place, { environmentId, environment, key, projectId }: Wish): boolean {
    const { truth, kernel, layout } = this.#world;
    const { from = 0, until = 0 } = truth.environments.get(environmentId) ?? {};
    const isYoung = from > 0 && kernel.now < from + 3_500;
    const isOpen = truth.keys.get(key)?.opens.has(environmentId) === true;
    return !isOpen || isYoung || until <= kernel.now || layout.isNarrow(place, projectId, environment);
  }

  /** How long a change of that time may take to a reader of a place: a while once the fleet has settled, any time before. */
  #withinMs(place: Place, writtenAt: number): number {
    const { mode, settledAt, kernel, database, network, layout } = this.#world;
    if (mode !== 'heals' || settledAt === undefined || writtenAt < settledAt) return Number.POSITIVE_INFINITY;
    if (kernel.lookMs > 0 || database.pageRows < 10 || network.window < 100) return Number.POSITIVE_INFINITY;
    const way = layout.wayOf(place);
    const links = way.flatMap((each) => layout.linksOf(each));
    const isCopy = way.some(({ source }) => source.kind === 'database' && source.standby !== undefined);
    return links.reduce((sum, { delayMs }) => sum + 6 * delayMs, QUICK_MS + (isCopy ? POLL_MS : 0));
  }
}
