/** A figure at a size of its input. */
export interface Point {
  readonly input: number;
  readonly figure: number;
}

/** How a figure grows beside its input. */
export interface Growth {
  /** The last figure over the first. */
  readonly figureFactor: number;
  /** The last input over the first. */
  readonly inputFactor: number;
  readonly verdict: 'flat' | 'slower than its input' | 'with its input' | 'faster than its input';
}

/** A figure that is at most so much larger at the end is flat: two runs of the same thing differ as much. */
const FLAT = 1.5;

/** A figure may exceed the growth of its input by so much and still count as growing with it. */
const TOLERANCE = 1.3;

/**
 * Judges how a figure grows from the smallest input to the largest. Figures below `floor` count as `floor`, since a
 * millisecond more or less of something that small says nothing. A single step that outgrows its input by more than
 * the tolerance makes the figure grow faster, if larger inputs do not take it back: one slow moment does not count.
 * Returns `undefined` when there are fewer than two different inputs.
 */
export function growthOf(points: readonly Point[], floor: number): Growth | undefined {
  const sorted = points
    .filter(({ figure }) => Number.isFinite(figure))
    .map(({ input, figure }) => ({ input, figure: Math.max(figure, floor) }))
    .sort((a, b) => a.input - b.input);
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined || first.input === last.input) return undefined;
  const factors = { figureFactor: last.figure / first.figure, inputFactor: last.input / first.input };
  return { ...factors, verdict: verdictOf(sorted, factors) };
}

function verdictOf(
  sorted: readonly Point[],
  { figureFactor, inputFactor }: Pick<Growth, 'figureFactor' | 'inputFactor'>,
): Growth['verdict'] {
  if (figureFactor <= FLAT) return 'flat';
  const lasting = sorted.map(({ input }, index) => ({
    input,
    figure: Math.min(...sorted.slice(index).map(({ figure }) => figure)),
  }));
  if (lasting.some((point, index) => outgrows(lasting[index - 1], point))) return 'faster than its input';
  if (figureFactor > inputFactor / TOLERANCE) return 'with its input';
  return 'slower than its input';
}

function outgrows(before: Point | undefined, point: Point): boolean {
  if (before === undefined || before.figure === 0) return false;
  const factor = point.figure / before.figure;
  return factor > FLAT && factor > (point.input / before.input) * TOLERANCE;
}
