/** One line of the result table. Empty strings stand for "nothing to say here". */
export interface Row {
  /** The subject of the measurement, with its payload. */
  readonly what: string;
  readonly measured: string;
  /** The same figure of the reference, measured in the same run. */
  readonly reference: string;
  readonly ratio: string;
  /** The target, as in `>= 85 %`. */
  readonly goal: string;
  readonly verdict: 'yes' | 'no' | '';
}

const HEADINGS = ['what', 'measured', 'reference in the same run', 'ratio', 'to reach', 'ok?'] as const;

/** The rows as a table for a terminal. */
export function formatText(rows: readonly Row[]): string {
  const lines = [[...HEADINGS], ...rows.map(cellsOf)];
  const widths = HEADINGS.map((_, column) => Math.max(...lines.map((cells) => (cells[column] ?? '').length)));
  return lines
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** The rows as a Markdown table. */
export function formatMarkdown(rows: readonly Row[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    line(HEADINGS.map((heading) => heading.charAt(0).toUpperCase() + heading.slice(1))),
    `|${HEADINGS.map(() => '---').join('|')}|`,
    ...rows.map((row) => line(cellsOf(row))),
  ].join('\n');
}

function cellsOf(row: Row): string[] {
  return [row.what, row.measured, row.reference, row.ratio, row.goal, row.verdict];
}
