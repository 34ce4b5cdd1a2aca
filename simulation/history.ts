import type { Violation } from './checks.ts';
import { checkTheEnd } from './end.ts';
import { cause } from './faults.ts';
import { takeOver } from './globals.ts';
import { Kernel } from './kernel.ts';
import { drawWeather, type Fault, type FaultKind, type Mode, modeOf } from './weather.ts';
import { CALM_MS, World } from './world.ts';

/** What to simulate. */
export interface HistoryOptions {
  readonly seed: number;
  /** Default: as the seed chooses. */
  readonly mode?: Mode;
  /** Only these faults; default all that the seed chooses. */
  readonly kinds?: readonly FaultKind[];
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
  const giveBack = takeOver(kernel, world.network.fetch);
  try {
    run(world, faults);
  } finally {
    giveBack();
  }
  const { counts, places } = world;
  counts.set('wake lost', world.database.wakesLost);
  return {
    ...{ seed, mode, faults, counts, violations: world.checks.violations },
    ...{ digest: kernel.digest, events: kernel.events, virtualMs: kernel.now },
    said: places.flatMap(({ said }) => said),
  };
}

function run(world: World, faults: readonly Fault[]): void {
  const { kernel, mode, endsAt } = world;
  world.begin();
  for (const fault of faults) kernel.after(fault.at, () => cause(world, fault));
  if (mode === 'safety') {
    kernel.runUntil(endsAt);
    return;
  }
  let core = world.places;
  kernel.after(endsAt, () => {
    if (mode === 'stays') core = world.core();
    world.calm(core);
  });
  kernel.runUntil(endsAt + CALM_MS);
  checkTheEnd(world, core);
  for (const client of world.clients) client.checkTheEnd();
}
