/**
 * How far revisions are raised from one epoch to the next: beyond any that was served before, so that no client takes a
 * new map for an old one.
 */
const REVISION_LEAP = 100_000;

/** The number before the dot. Names of older versions have none, and began before all that have one. */
const NUMBERED = /^(\d{1,9})\./;

/**
 * The name of an epoch that begins after those that are `known`: its number is greater than theirs. So two names show which
 * epoch began later, also where the database has lost one of them.
 * (docs/decisions/0058-epochs-have-numbers.md)
 */
export function epochAfter(known: readonly string[], id: string = crypto.randomUUID()): string {
  return `${Math.max(0, ...known.map(numberOf)) + 1}.${id}`;
}

/**
 * Whether `epoch` began before `other`, another epoch of the same database. False for a later one, and for one of the same number: each of
 * these has been lost where `other` is the newest.
 */
export function precedes(epoch: string, other: string): boolean {
  return numberOf(epoch) === 0 || numberOf(epoch) < numberOf(other);
}

/** What to add to a revision when `next` begins where `epoch` was: a leap for each epoch between them, known or lost. */
export function leapBetween(epoch: string, next: string): number {
  return REVISION_LEAP * Math.max(1, numberOf(next) - numberOf(epoch));
}

function numberOf(epoch: string): number {
  return Number(NUMBERED.exec(epoch)?.[1] ?? 0);
}
