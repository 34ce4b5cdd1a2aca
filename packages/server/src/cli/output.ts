import { writeFile } from 'node:fs/promises';
import { elementsOf, membersOf, memberText } from '@halyard/protocol';
import { shorten } from '../domain/text.ts';
import type { ApiAnswer } from './api-client.ts';
import { CliError } from './cli-error.ts';
import type { Fields } from './fields.ts';
import { asCalled, type Shell } from './shell.ts';

/** How a command writes. */
export interface OutputOptions {
  readonly json?: boolean;
}

/** Whether to write JSON: on demand, and whenever standard output is not a terminal. */
export function wantsJson(shell: Shell, options: OutputOptions): boolean {
  return options.json === true || !shell.isTerminal;
}

/** Writes an answer: its JSON text unchanged, or on a terminal the text from `describe`. */
export function printAnswer(
  shell: Shell,
  options: OutputOptions,
  answer: ApiAnswer,
  describe: (fields: Fields) => string,
): void {
  shell.write(wantsJson(shell, options) ? asLine(answer.text) : describe(answer.fields));
}

/** How a list looks on a terminal. */
export interface ListLayout {
  /** The member of the answer that holds the items. */
  readonly member: string;
  readonly headings: readonly string[];
  readonly row: (item: Fields) => readonly string[];
  /** The sentence for an empty list. */
  readonly empty: string;
  /** The sentence below a list that has more items after this one. */
  readonly more?: (last: Fields) => string;
}

/**
 * Writes a list, given as its pages: as one JSON object, page by page as they come, or as a table on a terminal. A list in one
 * page is written unchanged.
 */
export async function printList(
  shell: Shell,
  options: OutputOptions,
  pages: AsyncIterable<ApiAnswer> | Iterable<ApiAnswer>,
  layout: ListLayout,
): Promise<void> {
  if (wantsJson(shell, options)) return printJsonPages(shell, pages, layout.member);
  const { member, headings, row, empty, more } = layout;
  const rows: (readonly string[])[] = [];
  let last: Fields | undefined;
  let hasMore = false;
  for await (const { fields } of pages) {
    const items = fields.list(member);
    rows.push(...items.map(row));
    last = items.at(-1) ?? last;
    hasMore = fields.optionalText('next') !== undefined;
  }
  shell.write(rows.length === 0 ? `${asCalled(shell, empty)}\n` : formatTable(headings, rows));
  if (hasMore && last !== undefined && more !== undefined) shell.write(`${more(last)}\n`);
}

/** The JSON texts of the items in a member of an answer, unchanged; none if it has no such list. */
export function itemTexts(answer: string, member: string): readonly string[] {
  return elementsOf(memberText(answer, [member]) ?? '[]') ?? [];
}

async function printJsonPages(
  shell: Shell,
  pages: AsyncIterable<ApiAnswer> | Iterable<ApiAnswer>,
  member: string,
): Promise<void> {
  let isOpen = false;
  for await (const { text } of pages) {
    const next = memberText(text, ['next']);
    if (!isOpen && next === undefined) return shell.write(asLine(text));
    const items = itemTexts(text, member).join(',');
    if (isOpen) shell.write(items === '' ? '' : `,${items}`);
    else {
      const others = (membersOf(text) ?? []).filter(([name]) => name !== member && name !== 'next');
      const head = others.map(([name, value]) => `${JSON.stringify(name)}:${value},`).join('');
      shell.write(`{${head}${JSON.stringify(member)}:[${items}`);
    }
    isOpen = true;
  }
  shell.write(']}\n');
}

/** Reports what was done: a sentence on a terminal, else the answer's JSON if it has a body. */
export function printDone(shell: Shell, options: OutputOptions, sentence: string, json?: string): void {
  if (!wantsJson(shell, options)) shell.write(`${sentence}\n`);
  else if (json) shell.write(`${json}\n`);
  else shell.writeError(`${sentence}\n`);
}

/**
 * Writes a new secret, which the server never shows again: the secret alone on standard output (the whole record with
 * `--json`), and `sentence` on standard error.
 */
export function printSecret(
  shell: Shell,
  options: OutputOptions,
  answer: ApiAnswer,
  { member, sentence }: { readonly member: string; readonly sentence: string },
): void {
  shell.writeError(`${sentence}\n`);
  shell.write(options.json ? asLine(answer.text) : `${answer.fields.text(member)}\n`);
}

/** Writes a document to the file `out` and reports it on standard error, or to standard output without `out`. */
export async function printDocument(
  shell: Shell,
  text: string,
  { out, sentence }: { readonly out: string | undefined; readonly sentence: string },
): Promise<void> {
  const document = asLine(text);
  if (out === undefined) return shell.write(document);
  await writeFile(out, document).catch((cause: unknown) => {
    throw new CliError(`Cannot write ${out}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  });
  shell.writeError(`${sentence}\n`);
}

function asLine(text: string): string {
  return text.endsWith('\n') ? text : `${text}\n`;
}

/** A time of the API (ISO 8601) for a table: to the minute, in UTC; `-` if absent. */
export function shortTime(iso: string | undefined): string {
  return iso === undefined ? '-' : `${iso.slice(0, 16).replace('T', ' ')}Z`;
}

/** Most characters of a JSON value in one line. */
const MAX_JSON_LENGTH = 60;

/** A JSON value in one line, shortened; `-` if absent. */
export function shortJson(data: unknown): string {
  if (data === undefined) return '-';
  const line = printable(JSON.stringify(data));
  return line.length <= MAX_JSON_LENGTH ? line : `${shorten(line, MAX_JSON_LENGTH - 1)}…`;
}

/**
 * Formats rows as a table for a terminal; columns are two spaces apart and as wide as the terminal shows them. Returns
 * an empty text without rows.
 */
export function formatTable(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const lines = [headings, ...rows.map((row) => row.map(printable))];
  const widths = headings.map((_heading, column) =>
    Math.max(...lines.map((line) => Bun.stringWidth(line[column] ?? ''))),
  );
  const padded = (line: readonly string[]) =>
    line.map((cell, column) => cell + ' '.repeat((widths[column] ?? 0) - Bun.stringWidth(cell))).join('  ');
  return lines.map((line) => `${padded(line).trimEnd()}\n`).join('');
}

/** Replaces control characters, so that stored text can neither break a table nor control the terminal. */
export function printable(cell: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the purpose
  return cell.replace(/[\u0000-\u001f\u007f-\u009f]+/g, ' ');
}
