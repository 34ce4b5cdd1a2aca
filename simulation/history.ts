import type { Violation } from './checks.ts';
import { cause } from './faults.ts';
import { takeOver } from './globals.ts';
import { Kernel } from './kernel.ts';
import { drawWeather, type Fault, type FaultKind, type Mode, modeOf } from './weather.ts';
import { World } from './world.ts';

/** Longest a fleet may take to be current after its last fault: the longest back-off, and what the nodes may take. */
const CALM_MS = 37_000;

/**
 * Longest a client may take: its connection may have died in silence after the last byte that a hole had held up. The client leaves
 * it when three keep-alives are missing, and comes back after a pause.
 */
const CLIENT_CALM_MS = 60_000;

/** What was sent over a slow link holds up what follows it for so long after the faults. */
const ON_THE_WAY_MS = 2_000;

/** How long a fleet that is current again is watched: changes must be quick. */
const WATCH_MS = 6_000;

/** What the last changes may take to everyone: clients that poll ask every five seconds, and some of them later. */
const LAST_MS = 7_500;

/** How often it is looked whether a fleet is current again. */
const LOOK_MS = 500;

/** What to simulate. */
export interface HistoryOptions {
  readonly seed: number;
  /** Default: as the seed chooses. */
  readonly mode?: Mode;
  /** Only these faults; default all that the seed chooses. */
  readonly kinds?: readonly FaultKind[];
  /** How many relays there are besides those that the seed chooses, in two tiers below the first node; default none. */
  readonly followers?: number;
  /** These faults instead of drawn ones. */
  readonly faults?: readonly Fault[];
}

/** What came of it. */
export interface HistoryResult {
  readonly seed: number;
  readonly mode: Mode;
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

/** Runs one history in virtual time, to its end, in this turn of the real event loop. */
export function simulate(options: HistoryOptions): HistoryResult {
  const { seed, kinds, mode = modeOf(seed) } = options;
  const kernel = new Kernel(seed);
  const world = new World(kernel, seed, mode);
  const faults = options.faults ?? drawWeather(seed, world.endsAt / 1_000, kinds);
  const giveBack = takeOver({
    kernel,
    fetch: world.network.fetch,
    files: () => world.layout.filesOf(kernel.owner),
  });
  try {
    run(world, faults, options.followers ?? 0);
  } finally {
    giveBack();
  }
  const { counts, layout, database } = world;
  if (database.wakesLost > 0) counts.set('wake lost', database.wakesLost);
  return {
    seed,
    mode,
    faults,
    counts,
    violations: world.checks.violations,
    digest: kernel.digest,
    events: kernel.events,
    virtualMs: kernel.now,
    said: layout.places.flatMap(({ said }) => said),
  };
}

function run(world: World, faults: readonly Fault[], followers: number): void {
  const { kernel, mode, endsAt } = world;
  world.begin(followers);
  for (const fault of faults) kernel.after(fault.at, () => cause(world, fault));
  kernel.runUntil(endsAt);
  if (mode === 'safety') return;

  const core = mode === 'stays' ? world.layout.core() : world.layout.places;
  world.calm(core);
  settle(world, core, Math.max(0, ...faults.map(({ at }) => at)));
  world.isWriting = false;
  kernel.runUntil(kernel.now + LAST_MS);
  until(world, CALM_MS, () => world.troubles(core, true).length === 0);
  const ofPlaces = world.troublesOfPlaces(core, true);
  until(world, CLIENT_CALM_MS, () => world.troublesOfClients(true).length === 0);
  for (const { name, story } of [...ofPlaces, ...world.troublesOfClients(true)])
    world.checks.broken('liveness', name, story);
}

/** Waits until everyone is current again, and watches them for a while. */
function settle(world: World, core: World['layout']['places'], lastFaultAt: number): void {
  const { kernel, endsAt } = world;
  const sinceAt = Math.max(lastFaultAt, endsAt + ON_THE_WAY_MS);
  until(world, CALM_MS, () => kernel.now > sinceAt && world.troubles(core, false).length === 0);
  world.settledAt = kernel.now;
  kernel.runUntil(kernel.now + WATCH_MS);
}

/** Runs until something holds, or until it has taken too long. */
function until({ kernel, endsAt }: World, withinMs: number, holds: () => boolean): void {
  while (!holds() && kernel.now < endsAt + withinMs) kernel.runUntil(kernel.now + LOOK_MS);
}
