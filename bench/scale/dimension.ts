import type { Bench } from '../bench.ts';
import { times } from '../format.ts';
import { type Format, type Table, written } from '../table.ts';
import { growthOf } from './growth.ts';

/** What grows, and what was measured at each size. */
export interface Dimension {
  /** As in "Flags in the environment". */
  readonly title: string;
  /** The heading of the sizes. */
  readonly input: string;
  readonly sizes: readonly Size[];
  /** What a reader of the table must know. */
  readonly remark?: string;
}

/** One line of a dimension's table. */
export interface Size {
  /** What grew, for the comparison. Sizes without it are shown but not compared. */
  readonly input?: number;
  readonly label: string;
  /** Every size of a dimension has the same columns, or lacks some. */
  readonly figures: Figures;
}

/** Figures by column. */
export type Figures = Readonly<Record<string, Figure>>;

/** One cell: a text, and the numbers in it whose growth is judged. */
export interface Figure {
  readonly text: string;
  readonly judged?: readonly Judged[];
}

/** A number of a cell. */
export interface Judged {
  /** Added to the column's name where a cell has several, as in `CPU`. */
  readonly name?: string;
  readonly value: number;
  /** What is below this is noise. */
  readonly floor: number;
  /** Bytes may grow with what they are bytes of; the output says which figures are bytes. */
  readonly isBytes?: boolean;
}

/** The input of every dimension. */
export interface Scale extends Bench {
  /** Whether to stop at smaller ends: a few minutes for all dimensions instead of many. */
  readonly isQuick: boolean;
}

/** Measures one dimension. Whatever it starts has ended when it settles. */
export type MeasureDimension = (scale: Scale) => Promise<readonly Dimension[]>;

/** Measures one count after another; with `--quick` fewer or smaller ones. */
export async function eachCount(
  scale: Scale,
  of: string,
  counts: { readonly all: readonly number[]; readonly quick: readonly number[] },
  measure: (count: number) => Promise<Figures>,
): Promise<Size[]> {
  const sizes: Size[] = [];
  for (const count of scale.isQuick ? counts.quick : counts.all) {
    scale.say(`scale: ${count} ${of}`);
    sizes.push({ input: count, label: String(count), figures: await measure(count) });
  }
  return sizes;
}

/** The dimension's table and the table of its growth, below a heading. */
export function formatDimension(dimension: Dimension, format: Format): string {
  const growth = growthTable(dimension);
  const parts = [written(format, valueTable(dimension), dimension.title)];
  if (dimension.remark !== undefined) parts.push(dimension.remark);
  if (growth.lines.length > 0) parts.push(written(format, growth));
  return parts.join('\n\n');
}

/** The figures of a dimension that grow faster than their input, bytes left out; each with its dimension. */
export function fasterThanInput(dimension: Dimension): string[] {
  return growths(dimension)
    .filter(({ growth, isBytes }) => growth.verdict === 'faster than its input' && !isBytes)
    .map(({ name, growth }) => `${dimension.title}: ${name} (${times(growth.figureFactor)})`);
}

function columnsOf({ sizes }: Dimension): string[] {
  return [...new Set(sizes.flatMap(({ figures }) => Object.keys(figures)))];
}

function valueTable(dimension: Dimension): Table {
  const columns = columnsOf(dimension);
  return {
    headings: [dimension.input, ...columns],
    lines: dimension.sizes.map(({ label, figures }) => [
      label,
      ...columns.map((column) => figures[column]?.text ?? '-'),
    ]),
  };
}

function growthTable(dimension: Dimension): Table {
  return {
    headings: ['figure', `growth of ${dimension.input.toLowerCase()}`, 'of the figure', 'grows'],
    lines: growths(dimension).map(({ name, growth, isBytes }) => [
      isBytes ? `${name} (bytes)` : name,
      times(growth.inputFactor),
      times(growth.figureFactor),
      growth.verdict,
    ]),
  };
}

function growths(dimension: Dimension) {
  return columnsOf(dimension).flatMap((column) => {
    const names = new Set(
      dimension.sizes.flatMap(({ figures }) => (figures[column]?.judged ?? []).map(({ name }) => name)),
    );
    return [...names].flatMap((name) => {
      const found = dimension.sizes.flatMap(({ input, figures }) => {
        const judged = figures[column]?.judged?.find((each) => each.name === name);
        return judged === undefined || input === undefined ? [] : [{ input, judged }];
      });
      const points = found.map(({ input, judged }) => ({ input, figure: judged.value }));
      const growth = growthOf(points, found[0]?.judged.floor ?? 0);
      const isBytes = found[0]?.judged.isBytes === true;
      return growth === undefined ? [] : [{ name: name ? `${column}, ${name}` : column, growth, isBytes }];
    });
  });
}
