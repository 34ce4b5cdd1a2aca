/** A table with one heading per column. */
export interface Table {
  readonly headings: readonly string[];
  readonly lines: readonly (readonly string[])[];
}

/** The table for a terminal: columns below each other. */
export function formatTable({ headings, lines }: Table): string {
  const all = [headings, ...lines];
  const widths = headings.map((_, column) => Math.max(...all.map((cells) => (cells[column] ?? '').length)));
  return all
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

/** The table in Markdown. */
export function formatMarkdownTable({ headings, lines }: Table): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [
    line(headings.map((heading) => heading.charAt(0).toUpperCase() + heading.slice(1))),
    `|${headings.map(() => '---').join('|')}|`,
    ...lines.map(line),
  ].join('\n');
}

/** How tables are written. */
export type Format = 'markdown' | 'text';

/** The table, below its title where it has one. */
export function written(format: Format, table: Table, title?: string): string {
  const text = format === 'markdown' ? formatMarkdownTable(table) : formatTable(table);
  if (title === undefined) return text;
  return `${format === 'markdown' ? `### ${title}` : title.toUpperCase()}\n\n${text}`;
}
