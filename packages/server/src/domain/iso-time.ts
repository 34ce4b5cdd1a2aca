/** The latest time that a date can hold, in epoch milliseconds. */
const LATEST = 8_640_000_000_000_000;

/** Whether this is a time as records keep it; a damaged record may hold anything. */
export function isTime(at: unknown): at is number {
  return typeof at === 'number' && Math.abs(at) <= LATEST;
}

/**
 * A time as ISO 8601, UTC. Input in epoch milliseconds. The time of a damaged record is shown as the epoch: its
 * list must work, so that people can find and remove it.
 */
export function isoTime(at: number): string {
  return new Date(isTime(at) ? at : 0).toISOString();
}
