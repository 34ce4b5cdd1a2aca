import { times } from './format.ts';
import type { Table } from './table.ts';

/** One line of the result table. */
export interface Row {
  /** The subject of the measurement, with its payload. */
  readonly what: string;
  readonly measured: string;
  /** The number in it that is compared: milliseconds, bytes or calls a second. Absent where it is a text only. */
  readonly value?: number;
  /** The same figure of the reference, measured in the same run. */
  readonly reference?: string;
  readonly ratio?: string;
  /** The target, as in `>= 85 %`, and whether it was reached. */
  readonly goal?: string;
  readonly isReached?: boolean;
}

/** The reference of a figure, and the goal. */
export interface Comparison<Figure> {
  /** The number of a figure that is compared. Default: the figure itself. */
  readonly by?: (figure: Figure) => number;
  /** The name of the reference, and its figure. */
  readonly beside?: readonly [name: string, figure: Figure];
  /** How the ratio to the reference is written. Default: as in `1.07 x`. */
  readonly ratio?: (ratio: number) => string;
  /** As in `<= 34 ms`, for the number that is compared; or goals with the numbers or verdicts that they are for. */
  readonly goal?: string | Readonly<Record<string, number | boolean>>;
}

/** The row of a figure, which `write` puts into words. */
export function rowOf<Figure>(
  what: string,
  write: (figure: Figure) => string,
  figure: Figure,
  { by = Number, beside, ratio = times, goal = {} }: Comparison<Figure> = {},
): Row {
  const value = by(figure);
  const share = beside === undefined ? Number.NaN : value / by(beside[1]);
  const goals = Object.entries(typeof goal === 'string' ? { [goal]: value } : goal);
  return {
    what,
    measured: write(figure),
    ...(!Number.isNaN(value) && { value }),
    ...(beside && { reference: `${beside[0]}: ${write(beside[1])}` }),
    ...(!Number.isNaN(share) && { ratio: ratio(share) }),
    ...(goals.length > 0 && {
      goal: goals.map(([text]) => text).join(', '),
      isReached: goals.every(([text, judged]) => reaches(text, judged)),
    }),
  };
}

/** What the units of goals are in milliseconds, bytes, calls a second or as a share; any other is 1. */
const UNITS: Readonly<Record<string, number>> = {
  µs: 0.001,
  s: 1000,
  KiB: 1024,
  MiB: 2 ** 20,
  'k/s': 1000,
  '%': 0.01,
};

/** Whether a number is within a goal such as `p50 <= 3 ms` or `<= + 18 %`; a verdict stays as it is. */
export function reaches(goal: string, judged: number | boolean): boolean {
  if (typeof judged === 'boolean') return judged;
  const [, relation, digits, unit = ''] = /(<=|<|>=) (?:\+ )?([\d.]+) ?(\S*)/.exec(goal) ?? [];
  const limit = Number(digits) * (UNITS[unit] ?? 1);
  if (relation === '>=') return judged >= limit;
  return relation === '<' ? judged < limit : judged <= limit;
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
