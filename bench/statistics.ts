/** The middle of some figures. Throws when there are none. */
export function median(figures: readonly number[]): number {
  return percentile(figures, 0.5);
}

/** The smallest figure that at least the share `p` (0 to 1) of all figures does not exceed. Throws when there are none. */
export function percentile(figures: readonly number[], p: number): number {
  const sorted = [...figures].sort((a, b) => a - b);
  const figure = sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)];
  if (figure === undefined) throw new Error('there is nothing to take a percentile of');
  return figure;
}

/** The average of some figures. */
export function mean(figures: readonly number[]): number {
  return sum(figures) / figures.length;
}

/** The total of some figures. */
export function sum(figures: readonly number[]): number {
  return figures.reduce((total, each) => total + each, 0);
}
