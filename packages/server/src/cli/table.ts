/**
 * Lines up rows under their headings for a terminal; columns are two spaces apart, widths are counted as the terminal
 * shows them. Without rows it gives nothing.
 */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const lines = [headings, ...rows.map((row) => row.map(printable))];
  const widths = headings.map((_heading, column) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ''))),
  );
  return lines.map((line) => `${padded(line, widths).trimEnd()}\n`).join('');
}

function padded(line: readonly string[], widths: readonly number[]): string {
  return line
    .map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - Bun.stringWidth(cell)))
    .join('  ');
}

/** The text without control characters: what other people wrote must neither break a table nor drive the terminal. */
export function printable(cell: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: taking them out is the point
  return cell.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}
