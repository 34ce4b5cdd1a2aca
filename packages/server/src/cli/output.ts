import type { ApiAnswer } from './api-client.ts';
import type { Fields } from './fields.ts';
import type { Shell } from './shell.ts';
import { formatTable } from './table.ts';

/** How a command is asked to write. */
export interface OutputOptions {
  readonly json?: boolean;
}

/** Whether to write JSON: on demand, and wherever no person is looking. */
export function wantsJson(shell: Shell, options: OutputOptions): boolean {
  return options.json === true || !shell.isTerminal;
}

/** Writes the answer: its JSON text as it came, or for a person what `describe` makes of it. */
export function printAnswer(
  shell: Shell,
  options: OutputOptions,
  answer: ApiAnswer,
  describe: (fields: Fields) => string,
): void {
  if (wantsJson(shell, options)) shell.write(answer.text.endsWith('\n') ? answer.text : `${answer.text}\n`);
  else shell.write(describe(answer.fields));
}

/** How a list is shown to a person. */
export interface ListLayout {
  readonly headings: readonly string[];
  readonly row: (item: Fields) => readonly string[];
  /** What to say when there is nothing to show. */
  readonly empty: string;
}

/** Writes a list answer: JSON as it came, or a table of the items in member `member`. */
export function printList(
  shell: Shell,
  options: OutputOptions,
  answer: ApiAnswer,
  layout: ListLayout & { readonly member: string },
): void {
  printAnswer(shell, options, answer, (fields) => {
    const items = fields.list(layout.member);
    return items.length === 0 ? `${layout.empty}\n` : formatTable(layout.headings, items.map(layout.row));
  });
}

/** Writes what was done: a sentence for a person, JSON where it is wanted and there is any. */
export function printDone(shell: Shell, options: OutputOptions, sentence: string, json?: string): void {
  if (!wantsJson(shell, options)) shell.write(`${sentence}\n`);
  else if (json) shell.write(`${json}\n`);
  else shell.writeError(`${sentence}\n`);
}

/** A time of the API (ISO 8601) for a table: to the minute, in UTC; `-` when there is none. */
export function shortTime(iso: string | undefined): string {
  return iso === undefined ? '-' : `${iso.slice(0, 16).replace('T', ' ')}Z`;
}
