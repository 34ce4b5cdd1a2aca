import { LiveEnvironment } from '../packages/server/src/evaluation/catalog/live-environment.ts';
import type { Bench } from './bench.ts';
import { bytes, microseconds, times } from './format.ts';
import { flagKey } from './node.ts';
import { type Row, rowOf } from './row.ts';
import { median } from './statistics.ts';

const SIZES = [100, 1_000, 10_000] as const;
const ROUNDS = 201;
const encoder = new TextEncoder();

/** Applying one change and making its frame, against writing the whole map again. In this process, on one core. */
export async function measureChangeCost(bench: Bench): Promise<readonly Row[]> {
  bench.say('change-cost');
  const costs = SIZES.map(measureSize);
  const [first, last] = [costs[0], costs.at(-1)];
  if (first === undefined || last === undefined) throw new Error('no size was measured');
  const growth = last.changeMs / first.changeMs;
  const mapGrowth = last.frameBytes / first.frameBytes;
  return [
    ...costs.map(({ size, frameBytes, changeMs, stringifyMs }) =>
      rowOf(
        `one change of ${size} flags (frame ${bytes(frameBytes)}), applied and framed`,
        microseconds,
        changeMs,
        { beside: ['JSON.stringify of the map', stringifyMs] },
      ),
    ),
    rowOf(`growth of that from ${SIZES[0]} to ${last.size} flags`, times, growth, {
      beside: ['growth of the map', mapGrowth],
      goal: { '<= 0.50 x': growth / mapGrowth },
    }),
  ];
}

/** Milliseconds of one change, and how large its frame is. */
function measureSize(size: number) {
  const environment = new LiveEnvironment({ id: 'e', projectId: 'p', name: 'production', revision: 0 });
  const keys = Array.from({ length: size }, (_, index) => flagKey(index));
  const map = Object.fromEntries(keys.map((key, index) => [key, stateOf(index)]));
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

  const frameBytes = environment.frame().length;
  return { size, frameBytes, changeMs: median(changes), stringifyMs: median(stringifications) };
}

function stateOf(index: number): object {
  return { enabled: index % 2 === 0, value: `variant ${index} of a text value` };
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}
