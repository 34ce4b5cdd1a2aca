/** Reads within an hour or a day, as the API gives them. */
export interface Reads {
  /** Its start (ISO 8601). */
  readonly at: string;
  /** Reads for which the flag was on. */
  readonly on: number;
  readonly off: number;
}

/** An hour, in milliseconds. */
export const HOUR_MS = 3_600_000;

/** Reads in equal steps of time, the oldest first. */
export interface ReadBars {
  /** Since the epoch, in steps. */
  readonly first: number;
  readonly bars: readonly { readonly on: number; readonly off: number }[];
  /** The reads of the highest bar, at least 1. */
  readonly most: number;
}

/** Adds up the reads of the last `count` steps before `now`, in epoch milliseconds. */
export function readBars(
  reads: readonly Reads[],
  { stepMs, count, now }: { readonly stepMs: number; readonly count: number; readonly now: number },
): ReadBars {
  const first = Math.floor(now / stepMs) - count + 1;
  const bars = Array.from({ length: count }, () => ({ on: 0, off: 0 }));
  for (const { at, on, off } of reads) {
    const bar = bars[Math.floor(Date.parse(at) / stepMs) - first];
    if (bar === undefined) continue;
    bar.on += on;
    bar.off += off;
  }
  return { first, bars, most: Math.max(1, ...bars.map(({ on, off }) => on + off)) };
}

/** All of them. */
export function sumOf(reads: readonly Pick<Reads, 'on' | 'off'>[]): { on: number; off: number } {
  return reads.reduce((sum, { on, off }) => ({ on: sum.on + on, off: sum.off + off }), { on: 0, off: 0 });
}
