import type { AuditFilter } from '../../api/audit.ts';

/** The filters in the address, by the names of the API's parameters. */
const MEMBERS = ['environment', 'actor', 'action', 'q', 'target'] as const;

/**
 * The filter that the address asks for. The environment applies only within a project; without one in the address it is
 * the one that the person's screens are limited to.
 */
export function filterFromAddress(
  params: URLSearchParams,
  project: string | undefined,
  environment?: string,
): AuditFilter {
  const chosen = MEMBERS.filter((name) => name !== 'environment' || project !== undefined).flatMap((name) => {
    const value = params.get(name) ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  const since = startOfDay(params.get('from') ?? '', 0);
  const until = startOfDay(params.get('until') ?? '', 1);
  return {
    ...(project === undefined ? {} : { project }),
    ...(project === undefined || environment === undefined ? {} : { environment }),
    ...Object.fromEntries(chosen),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/**
 * When a day such as `2027-01-31`, plus `daysLater` days, begins in local time, as ISO 8601; `undefined` for other text.
 * The last day of a filter is included, so the filter ends where the next day begins.
 */
function startOfDay(day: string, daysLater: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  const start = new Date(Number(year), Number(month) - 1, Number(date) + daysLater);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}
