const FIRST_MS = 50;
const LONGEST_MS = 2000;

/** How long to wait before attempt `attempt` (0 is the first) to reach the log again: 50 ms to 2 s, half of it jitter. */
export function reconnectDelayMs(attempt: number, random: () => number): number {
  const ceiling = Math.min(LONGEST_MS, FIRST_MS * 2 ** Math.min(attempt, 10));
  return ceiling / 2 + (random() * ceiling) / 2;
}
