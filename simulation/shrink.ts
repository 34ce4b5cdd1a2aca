import type { ViolationKind } from './checks.ts';
import { type HistoryOptions, type HistoryResult, simulate } from './history.ts';
import type { Fault } from './weather.ts';

/** How many histories the search for a shorter one may run. */
const MOST_TRIES = 200;

/**
 * Finds a short list of faults that breaks the same promise: drops halves, then quarters, down to single faults, as long
 * as what is left still fails. Returns its history.
 */
export function shrink(failed: HistoryResult, kind: ViolationKind): HistoryResult {
  const { seed, mode } = failed;
  let shortest = failed;
  let tries = 0;
  const stillFails = (faults: readonly Fault[]): boolean => {
    const options: HistoryOptions = { seed, mode, faults };
    const result = simulate(options);
    const isSame = result.violations.some((violation) => violation.kind === kind);
    if (isSame) shortest = result;
    return isSame;
  };

  for (
    let size = Math.ceil(failed.faults.length / 2);
    size >= 1;
    size = size === 1 ? 0 : Math.ceil(size / 2)
  ) {
    for (let from = 0; from < shortest.faults.length && tries < MOST_TRIES; ) {
      tries++;
      if (!stillFails(shortest.faults.toSpliced(from, size))) from += size;
    }
  }
  return shortest;
}
