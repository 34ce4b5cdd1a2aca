/** Tells when changes arrive somewhere, one after another. */
export interface Arrivals {
  /** The next arrival from now on, on the clock of `performance.now()`. */
  next(): Promise<number>;
  close(): void;
}

/** A change, on the clock of `performance.now()`: when it was sent, and when it arrived at each place. */
export interface TimedChange {
  readonly sentAt: number;
  readonly arrivedAt: readonly number[];
}

/** How many changes to make, after some that warm up, and how long to wait before each. */
export interface ChangesPlan {
  readonly warmUp: number;
  readonly count: number;
  readonly pauseMs?: number;
}

/** Makes changes one after another, each when the last one has arrived everywhere and is answered; closes the places. */
export async function timeChanges(
  places: readonly Arrivals[],
  change: (serial: number) => Promise<unknown>,
  { warmUp, count, pauseMs = 0 }: ChangesPlan,
): Promise<readonly TimedChange[]> {
  const changes: TimedChange[] = [];
  for (let serial = 1; serial <= warmUp + count; serial++) {
    if (pauseMs > 0) await Bun.sleep(pauseMs);
    const arrivals = Promise.all(places.map((place) => place.next()));
    const sentAt = performance.now();
    const [arrivedAt] = await Promise.all([arrivals, change(serial)]);
    if (serial > warmUp) changes.push({ sentAt, arrivedAt });
  }
  for (const place of places) place.close();
  return changes;
}

/** From sending each change to its arrival at one of the places, in milliseconds. */
export function delaysAt(place: number, changes: readonly TimedChange[]): number[] {
  return changes.map(({ sentAt, arrivedAt }) => (arrivedAt[place] ?? Number.NaN) - sentAt);
}
