import { CliError, EXIT } from './cli-error.ts';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * Reads a time to come: `90m`, `12h`, `30d`, `4w` from now (epoch milliseconds), or a date. Gives ISO 8601. `option`
 * is what messages call it.
 */
export function parseExpiry(text: string, now: number, option = '--expires'): string {
  const duration = parseDuration(text);
  const at = duration === undefined ? parseDate(text, option, 'from now') : now + duration;
  if (at <= now) throw usage(`${option} ${text} is not in the future.`);
  return new Date(at).toISOString();
}

/** Reads a time that is over: `90m`, `12h`, `30d`, `4w` before now, or a date. Otherwise as {@link parseExpiry}. */
export function parsePastTime(text: string, now: number, option: string): string {
  const duration = parseDuration(text);
  return new Date(duration === undefined ? parseDate(text, option, 'ago') : now - duration).toISOString();
}

/** Milliseconds; `undefined` for another kind of text. */
function parseDuration(text: string): number | undefined {
  const [, count, unit = ''] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  return count === undefined ? undefined : Number(count) * (UNIT_MS[unit] ?? Number.NaN);
}

function parseDate(text: string, option: string, direction: string): number {
  const [, day, time, zone] = /^(\d{4}-\d{2}-\d{2})(?:T([\d:.]+)(Z|[+-]\d{2}:\d{2})?)?$/.exec(text) ?? [];
  if (day !== undefined && time !== undefined && zone === undefined)
    throw usage(
      `${option} ${text} has no time zone: write ${text}Z for UTC, or an offset such as ${text}+01:00.`,
    );
  const at = day !== undefined && isInCalendar(day) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  throw usage(
    `${option} must be a time ${direction}, such as 12h, 30d or 4w, or a date such as 2027-01-31, not "${text}".`,
  );
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isInCalendar(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}

function usage(message: string): CliError {
  return new CliError(message, { exitCode: EXIT.usage });
}
