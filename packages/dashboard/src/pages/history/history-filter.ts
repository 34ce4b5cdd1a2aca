import type { AuditFilter } from '../../api/audit.ts';

/** The members of the address that narrow a history, as the API takes them. */
const MEMBERS = ['environment', 'actor', 'action', 'q', 'target'] as const;

/** What the address asks for; without a project nothing can be narrowed to an environment. */
export function filterFromAddress(params: URLSearchParams, project: string | undefined): AuditFilter {
  const chosen = MEMBERS.filter((name) => name !== 'environment' || project !== undefined).flatMap((name) => {
    const value = params.get(name) ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  const since = startOfDay(params.get('from') ?? '', 0);
  const until = startOfDay(params.get('until') ?? '', 1);
  return {
    ...(project === undefined ? {} : { project }),
    ...Object.fromEntries(chosen),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
  };
}

/**
 * When a day such as `2027-01-31` begins here, `daysLater` days on, as ISO 8601; `undefined` for anything else. The last
 * day of a filter is part of it, so the filter ends where the next day begins.
 */
function startOfDay(day: string, daysLater: number): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day) ?? [];
  const start = new Date(Number(year), Number(month) - 1, Number(date) + daysLater);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}

/** What the history can be narrowed to: all deeds of a noun, or one deed. */
export const ACTION_CHOICES: readonly (readonly [action: string, name: string])[] = [
  ['flag', 'flags: all'],
  ['flag.changed', 'flag states'],
  ['flag.created', 'flags created'],
  ['flag.updated', 'flags edited'],
  ['flag.archived', 'flags archived'],
  ['flag.deleted', 'flags deleted'],
  ['schedule', 'schedules'],
  ['key', 'project keys'],
  ['environment', 'environments'],
  ['project', 'projects'],
  ['operator', 'operators'],
  ['invitation', 'invitations'],
  ['token', 'access tokens'],
  ['session', 'sign-ins'],
];
