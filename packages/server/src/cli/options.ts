import type { Command } from 'commander';
import { ConfigError } from '../config/config.ts';
import { type ConnectionFlags, resolveConnection } from '../config/connection.ts';
import { readSetting, type SettingReader } from '../config/setting-readers.ts';
import { ApiClient } from './api-client.ts';
import { usageError } from './cli-error.ts';
import type { OutputOptions } from './output.ts';
import type { Shell } from './shell.ts';

/** Options of every command that talks to a server. */
export interface CommandOptions extends ConnectionFlags, OutputOptions {}

/** Adds `--json`, `--url`, `--token` and `--data`. */
export function addConnectionOptions(command: Command): Command {
  return command
    .option('--json', 'Write JSON, even on a terminal')
    .option('--url <url>', 'Server address (default HALYARD_URL, else this machine at HALYARD_PORT or 7070)')
    .option('--token <token>', 'Access token; prefer HALYARD_TOKEN, which other users cannot see')
    .option('--data <folder>', 'Data folder of a server on this machine, to read its admin token from');
}

/** The client for the server that the options and the environment name. */
export function connect(shell: Shell, options: ConnectionFlags): ApiClient {
  return new ApiClient(resolveConnection(options, shell.env));
}

/** The value of an option, checked before anything is sent. */
export function checkedOption<Value>(name: string, text: string, reader: SettingReader<Value>): Value {
  const read = readSetting(reader, text, { name, secret: false });
  if (!read.ok) throw new ConfigError([read.problem]);
  return read.value;
}

/** The names in the value of an option, which commas separate. */
export function namesIn(text: string): readonly string[] {
  return text.split(',').map((name) => name.trim());
}

/** Requires `--yes`. `consequence` says what will be lost. */
export function requireYes(options: { readonly yes?: boolean }, consequence: string): void {
  if (options.yes !== true) throw usageError(`${consequence} Add --yes to confirm.`);
}

/** A command that people look for here, but that has another name: it is refused with a sentence that says which. */
export function addRedirect(group: Command, name: string, sentence: string): void {
  group
    .command(name, { hidden: true })
    .argument('[words...]')
    .allowUnknownOption()
    .action(() => {
      throw usageError(sentence);
    });
}

/** The help text of `--note`. */
export const NOTE_HELP = 'Reason for the change, kept in the audit log';

/**
 * The header that puts a note into the audit log. Headers carry bytes, so the note goes as UTF-8 bytes; line feeds and
 * other control characters are not allowed in a header and become spaces.
 */
export function noteHeader(note: string | undefined): Readonly<Record<string, string>> {
  if (note === undefined) return {};
  const line = note.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return { 'x-change-note': Buffer.from(line, 'utf8').toString('latin1') };
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * Reads a time in the future: `90m`, `12h`, `30d`, `4w` from now (epoch milliseconds), or a date. Returns ISO 8601.
 * `option` names it in messages.
 */
export function parseFutureTime(text: string, now: number, option: string): string {
  const duration = parseDuration(text);
  const at = duration === undefined ? parseDate(text, option, 'from now') : now + duration;
  if (at <= now) throw usageError(`${option} ${text} is not in the future.`);
  return new Date(at).toISOString();
}

/** Reads a time in the past: `90m`, `12h`, `30d`, `4w` before now, or a date. Otherwise as {@link parseFutureTime}. */
export function parsePastTime(text: string, now: number, option: string): string {
  const duration = parseDuration(text);
  return new Date(duration === undefined ? parseDate(text, option, 'ago') : now - duration).toISOString();
}

/** Reads `90m`, `12h`, `30d` or `4w` as milliseconds; `undefined` if the text is not a duration. */
export function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? Number.NaN);
}

function parseDate(text: string, option: string, direction: string): number {
  const [, day, time, zone] = /^(\d{4}-\d{2}-\d{2})(?:T([\d:.]+)(Z|[+-]\d{2}:\d{2})?)?$/.exec(text) ?? [];
  if (day !== undefined && time !== undefined && zone === undefined)
    throw usageError(
      `${option} ${text} has no time zone. Write ${text}Z for UTC, or an offset such as ${text}+01:00.`,
    );
  const at = day !== undefined && isInCalendar(day) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw usageError(
    `${option} must be a time ${direction}, such as 12h, 30d or 4w, or a date such as 2027-01-31, not "${text}".`,
  );
}

/** `Date.parse` reads February 30 as March 2. */
function isInCalendar(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}
