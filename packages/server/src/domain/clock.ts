/** One hour, in milliseconds. */
export const HOUR_MS = 3_600_000;

/**
 * How far the clocks of nodes may differ, in milliseconds. A stored time that lies farther ahead than its writer and this
 * allow was written while a clock was wrong, and counts as over: otherwise it would hold things up until that date.
 */
export const CLOCK_TOLERANCE_MS = 10 * 60_000;
