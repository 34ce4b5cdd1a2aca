import { formatMarkdownTable, formatTable } from './table.ts';

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
  return formatTable({ headings: HEADINGS, lines: rows.map(cellsOf) });
}

/** The rows as a Markdown table. */
export function formatMarkdown(rows: readonly Row[]): string {
  return formatMarkdownTable({ headings: HEADINGS, lines: rows.map(cellsOf) });
}

function cellsOf(row: Row): string[] {
  return [row.what, row.measured, row.reference, row.ratio, row.goal, row.verdict];
}
