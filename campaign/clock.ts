/** Epoch milliseconds with fractions, steady while this process lives: the one clock of a history. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}
