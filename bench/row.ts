import type { Table } from './table.ts';

/** One line of the result table. */
export interface Row {
  /** The subject of the measurement, with its payload. */
  readonly what: string;
  readonly measured: string;
  /** The same figure of the reference, measured in the same run. */
  readonly reference?: string;
  readonly ratio?: string;
  /** The target, as in `>= 85 %`, and whether it was reached. */
  readonly goal?: string;
  readonly isReached?: boolean;
}

const HEADINGS = ['what', 'measured', 'reference in the same run', 'ratio', 'to reach', 'ok?'] as const;

/** The rows as a table; what a row does not say is an empty cell. */
export function tableOf(rows: readonly Row[]): Table {
  return {
    headings: HEADINGS,
    lines: rows.map(({ what, measured, reference = '', ratio = '', goal = '', isReached }) => [
      what,
      measured,
      reference,
      ratio,
      goal,
      isReached === undefined ? '' : isReached ? 'yes' : 'no',
    ]),
  };
}
