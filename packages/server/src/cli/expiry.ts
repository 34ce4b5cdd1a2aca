import { CliError, EXIT } from './cli-error.ts';

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * Reads a time to come: `90m`, `12h`, `30d`, `4w` from now (epoch milliseconds), or a date. Gives ISO 8601. `option`
 * is what messages call it.
 */
export function parseExpiry(text: string, now: number, option = '--expires'): string {
  const [, count, unit = ''] = /^(\d{1,5})([mhdw])$/.exec(text) ?? [];
  const at = count === undefined ? parseDate(text) : now + Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  if (Number.isNaN(at)) {
    throw new CliError(
      `${option} must be a time from now, such as 12h, 30d or 4w, or a date such as 2027-01-31, not "${text}".`,
      { exitCode: EXIT.usage },
    );
  }
  if (at <= now) throw new CliError(`${option} ${text} is not in the future.`, { exitCode: EXIT.usage });
  return new Date(at).toISOString();
}

function parseDate(text: string): number {
  const [, day] = /^(\d{4}-\d{2}-\d{2})(T[\d:.]+(Z|[+-]\d{2}:\d{2}))?$/.exec(text) ?? [];
  return day !== undefined && isInCalendar(day) ? Date.parse(text) : Number.NaN;
}

/** `Date.parse` takes the 30th of February for the 2nd of March. */
function isInCalendar(day: string): boolean {
  const at = Date.parse(day);
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(day);
}
