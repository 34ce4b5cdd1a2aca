import { LiveEnvironment } from '../packages/server/src/evaluation/catalog/live-environment.ts';
import type { Bench } from './bench.ts';
import { bytes, microseconds, times, verdict } from './format.ts';
import type { Row } from './row.ts';
import { median } from './statistics.ts';

const SIZES = [100, 1_000, 10_000] as const;
const ROUNDS = 201;
const encoder = new TextEncoder();

/** Milliseconds of one change, and how large its frame is. */
interface Cost {
  readonly size: number;
  readonly frameBytes: number;
  readonly changeMs: number;
  readonly stringifyMs: number;
}

/** Applying one change and making its frame, against writing the whole map again. In this process, on one core. */
export async function measureChangeCost(bench: Bench): Promise<readonly Row[]> {
  bench.say('change-cost');
  const costs = SIZES.map(measureSize);
  const [first, last] = [costs[0], costs.at(-1)];
  if (first === undefined || last === undefined) throw new Error('no size was measured');
  const growth = last.changeMs / first.changeMs;
  const mapGrowth = last.frameBytes / first.frameBytes;
  return [
    ...costs.map((cost) => ({
      what: `one change of ${cost.size} flags (frame ${bytes(cost.frameBytes)}), applied and framed`,
      measured: microseconds(cost.changeMs),
      reference: `JSON.stringify of the map: ${microseconds(cost.stringifyMs)}`,
      ratio: times(cost.changeMs / cost.stringifyMs),
      goal: '',
      verdict: '' as const,
    })),
    {
      what: `growth of that from ${SIZES[0]} to ${last.size} flags`,
      measured: times(growth),
      reference: `growth of the map: ${times(mapGrowth)}`,
      ratio: times(growth / mapGrowth),
      goal: '<= 0.50 x',
      verdict: verdict(growth / mapGrowth <= 0.5),
    },
  ];
}

function measureSize(size: number): Cost {
  const environment = new LiveEnvironment({ id: 'e', projectId: 'p', name: 'production', revision: 0 });
  const map: Record<string, object> = {};
  const keys = Array.from({ length: size }, (_, index) => `flag-${String(index).padStart(5, '0')}`);
  for (const [index, key] of keys.entries()) map[key] = stateOf(index);
  environment.apply(
    1,
    keys.map((key) => [key, JSON.stringify(map[key])]),
  );

  const changes: number[] = [];
  const stringifications: number[] = [];
  // Both in turn, each time another flag, so that neither profits from a quiet moment or a warm cache.
  for (let round = 0; round < ROUNDS; round++) {
    const key = keys[(round * 7919) % size] ?? '';
    const state = stateOf(size + round);
    changes.push(
      timed(() => {
        environment.apply(environment.revision + 1, [[key, JSON.stringify(state)]]);
        environment.frame();
      }),
    );
    stringifications.push(
      timed(() => {
        map[key] = state;
        encoder.encode(`data: ${JSON.stringify(map)}\n\n`);
      }),
    );
  }

  return {
    size,
    frameBytes: environment.frame().length,
    changeMs: median(changes),
    stringifyMs: median(stringifications),
  };
}

function stateOf(index: number): object {
  return { enabled: index % 2 === 0, value: `variant ${index} of a text value` };
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
