import { Chance } from './chance.ts';

/** One fault: what happens where, when, and for how long. Drawn before the history begins, so that a list can be shortened. */
export interface Fault {
  readonly kind: FaultKind;
  readonly at: number;
  /** How long it lasts, where it lasts, in milliseconds. */
  readonly ms: number;
  /** Chooses among what is there, modulo its count. */
  readonly where: number;
  /** Another number for the details. */
  readonly how: number;
}

/** Everything that can go wrong. */
export const FAULT_KINDS = [
  'hole',
  'slow',
  'reset',
  'kill',
  'pause',
  'database away',
  'sessions lost',
  'wake lost',
  'history lost',
  'pruned',
  'rotate',
  'move',
  'key revoked',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

/** The faults of a history: some kinds are more likely than others, so that rare ones meet each other. */
export function drawWeather(
  seed: number,
  seconds: number,
  kinds: readonly FaultKind[] = FAULT_KINDS,
): Fault[] {
  const chance = Chance.of(seed, 'weather');
  const chosen = kinds.filter(() => kinds.length < 4 || chance.happens(0.6));
  const faults: Fault[] = [];
  for (let at = chance.between(2_000, 5_000); at < seconds * 1_000; at += chance.between(200, 6_000)) {
    if (chosen.length === 0) break;
    const ms = chance.happens(0.3) ? chance.between(3_000, 15_000) : chance.between(50, 2_500);
    faults.push({ kind: chance.pick(chosen), at, ms, where: chance.whole(0, 1_000), how: chance.next() });
  }
  return faults;
}
