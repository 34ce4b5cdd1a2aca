import type { GuardedChange } from './production-guard.tsx';

/** How long nobody is asked after "don't ask again", in milliseconds. */
const QUIET_MS = 15 * 60_000;

type Place = Pick<GuardedChange, 'project' | 'environment'>;

/** Until when nobody is asked, by environment; epoch milliseconds. It ends with the tab's session. */
const until = new Map<string, number>();

/** Whether the person asked not to be asked about this environment for now. */
export function isQuiet(place: Place): boolean {
  return (until.get(nameOf(place)) ?? 0) > Date.now();
}

/** Asks no more about this environment for a quarter of an hour. */
export function keepQuiet(place: Place): void {
  until.set(nameOf(place), Date.now() + QUIET_MS);
}

function nameOf({ project, environment }: Place): string {
  return `${project}/${environment.name}`;
}
