/** A line of a text side by side: both the same, both different, or only on one side. */
export interface LinePair {
  readonly before?: string;
  readonly after?: string;
  readonly isSame: boolean;
}

/** Texts with more pairs of lines to compare are shown as replaced where they differ. */
const MOST_COMPARED = 1_000_000;

/** Pairs the lines of two texts; a comma at the end of a line does not count, because JSON moves it around. */
export function diffLines(before: readonly string[], after: readonly string[]): readonly LinePair[] {
  const isSame = (one: string | undefined, other: string | undefined) => bare(one) === bare(other);
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && isSame(before[start], after[start])) start++;
  let end = 0;
  while (end < shorter - start && isSame(before.at(-1 - end), after.at(-1 - end))) end++;
  const [old, young] = [
    before.slice(start, before.length - end),
    after.slice(start, after.length - end),
  ] as const;
  return [
    ...sameLines(before.slice(0, start), after),
    ...(old.length * young.length > MOST_COMPARED ? replaced(old, young) : compared(old, young)),
    ...sameLines(before.slice(before.length - end), after.slice(after.length - end)),
  ];
}

function bare(line: string | undefined): string | undefined {
  return line?.replace(/,$/, '');
}

function sameLines(before: readonly string[], after: readonly string[]): readonly LinePair[] {
  return before.map((line, index) => ({ before: line, after: after[index] ?? line, isSame: true }));
}

/** Lines that were removed beside the ones that took their place. */
function replaced(before: readonly string[], after: readonly string[]): readonly LinePair[] {
  return Array.from({ length: Math.max(before.length, after.length) }, (_, index) => {
    const [old, young] = [before[index], after[index]];
    return {
      ...(old === undefined ? {} : { before: old }),
      ...(young === undefined ? {} : { after: young }),
      isSame: false,
    };
  });
}

/** Pairs the lines of the longest common subsequence. */
function compared(before: readonly string[], after: readonly string[]): readonly LinePair[] {
  const [old, young] = [before.map(bare), after.map(bare)];
  const width = young.length + 1;
  // How many lines the rests of both texts have in common.
  const common = new Uint32Array((old.length + 1) * width);
  const at = (row: number, column: number) => common[row * width + column] ?? 0;
  for (let row = old.length - 1; row >= 0; row--)
    for (let column = young.length - 1; column >= 0; column--)
      common[row * width + column] =
        old[row] === young[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
  const pairs: LinePair[] = [];
  let [row, column] = [0, 0];
  let [fromRow, fromColumn] = [0, 0];
  const flush = () => pairs.push(...replaced(before.slice(fromRow, row), after.slice(fromColumn, column)));
  while (row < old.length && column < young.length) {
    if (old[row] === young[column]) {
      flush();
      pairs.push(...sameLines([before[row++] ?? ''], [after[column++] ?? '']));
      [fromRow, fromColumn] = [row, column];
    } else if (at(row + 1, column) >= at(row, column + 1)) row++;
    else column++;
  }
  [row, column] = [old.length, young.length];
  flush();
  return pairs;
}

/** Characters that are kept before the first difference of two long texts, at most a third of all. */
const LEAD = 40;

/**
 * Cuts two texts that are longer than `most` to the part around their first difference, so that what remains differs
 * where they do.
 */
export function cutAround(
  before: string | undefined,
  after: string | undefined,
  most: number,
): readonly [before: string | undefined, after: string | undefined] {
  const lead = Math.min(LEAD, Math.floor(most / 3));
  let start = 0;
  const shorter = Math.min(before?.length ?? 0, after?.length ?? 0);
  if (shorter > most) while (start < shorter && before?.[start] === after?.[start]) start++;
  const from = start === shorter || start + lead < most ? 0 : Math.max(0, start - lead);
  const cut = (text: string | undefined) =>
    text === undefined || text.length <= most
      ? text
      : `${from > 0 ? '…' : ''}${text.slice(from, from + most)}${text.length > from + most ? '…' : ''}`;
  return [cut(before), cut(after)];
}
