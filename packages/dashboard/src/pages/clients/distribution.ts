import { messages } from './messages.tsx';

/** How many deliveries took about as long. */
interface Bucket {
  /** As "under 5 ms". */
  readonly name: string;
  readonly count: number;
}

/** Upper bounds in milliseconds, each exclusive. */
const BOUNDS = [2, 5, 10, 25, 50, 100, 250, 1000] as const;

/** Counts times, in milliseconds, by size; empty buckets at either end are left out. */
export function distributionOf(times: readonly number[]): readonly Bucket[] {
  const buckets = [...BOUNDS, Infinity].map((bound, index) => {
    const from = BOUNDS[index - 1] ?? 0;
    const count = times.filter((ms) => ms >= from && ms < bound).length;
    const name =
      bound === Infinity
        ? messages.over
        : index === 0
          ? messages.under(bound)
          : messages.between(from, bound);
    return { name, count };
  });
  const first = buckets.findIndex(({ count }) => count > 0);
  const last = buckets.findLastIndex(({ count }) => count > 0);
  return first < 0 ? [] : buckets.slice(first, last + 1);
}

/** The value below which `share` (0 to 1) of the times lie; 0 for none. */
export function percentile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
