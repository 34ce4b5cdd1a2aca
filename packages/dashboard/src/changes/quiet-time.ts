import type { GuardedChange } from './production-guard.tsx';

/** How long nobody is asked after "don't ask again", in milliseconds. */
const QUIET_MS = 15 * 60_000;

/** What the names in the tab's storage begin with. */
const PREFIX = 'halyard.quiet.';

type Place = Pick<GuardedChange, 'project' | 'environment'>;

/** Until when nobody is asked, by environment; epoch milliseconds. For where the tab's storage is refused. */
const until = new Map<string, number>();

/** Whether the person asked not to be asked about this environment for now. It outlives a reload, not the tab. */
export function isQuiet(place: Place): boolean {
  const name = nameOf(place);
  const leftMs = (until.get(name) ?? stored(name)) - Date.now();
  // Nobody asked for more than that: what is stored may be anything, and clocks are set back.
  return leftMs > 0 && leftMs <= QUIET_MS;
}

/** Asks no more about this environment for a quarter of an hour. */
export function keepQuiet(place: Place): void {
  const name = nameOf(place);
  const end = Date.now() + QUIET_MS;
  until.set(name, end);
  try {
    sessionStorage.setItem(name, String(end));
  } catch {
    // Storage is switched off or full: it lasts as long as the page.
  }
}

/** Asks again about every environment: somebody else may be at this screen now. */
export function endQuiet(): void {
  until.clear();
  try {
    for (const name of Object.keys(sessionStorage)) {
      if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
    }
  } catch {
    // As above.
  }
}

/** 0 where nothing is kept; what is no number is never later than now. */
function stored(name: string): number {
  try {
    return Number(sessionStorage.getItem(name));
  } catch {
    // As above.
    return 0;
  }
}

function nameOf({ project, environment }: Place): string {
  return `${PREFIX}${project}/${environment.name}`;
}
