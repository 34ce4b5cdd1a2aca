import { usageError } from './cli-error.ts';

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
