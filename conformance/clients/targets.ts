/** Random targets and whether each is in a rollout, by the evaluation that the server and the clients of JavaScript use. */
import { isInRollout, rolloutBucket } from '@halyard/protocol';

/** A target, and what every language must say of it. */
export interface Target {
  readonly flagKey: string;
  readonly targetingKey: string;
  readonly rolloutPct: number;
  readonly isIn: boolean;
}

/** Letters of one to four bytes, controls, marks that join the letter before, and letters beyond 16 bits. */
const LETTERS = [
  ...'aZ09-_.:@ /\\"\u0000\t\u007fäßñøЖяλ中文字日本語한국عربשלום\u0301\u200d\ufeff\uffff🚩🙂👩‍🚀𝒳𐍈',
];

/** Percentages at which rounding counts, beside random ones. */
const AWKWARD = [0, 100, 0.001, 0.0005, 0.0015, 0.0025, 33.333, 33.3335, 99.999, 99.9995, 50, 12.5, 1e-7];

/** Makes `count` targets from a seed: the same ones each time. */
export function makeTargets(seed: number, count: number): Target[] {
  const random = randomFrom(seed);
  const text = (most: number) =>
    Array.from({ length: Math.floor(random() * (most + 1)) }, () => pick(LETTERS, random)).join('');
  return Array.from({ length: count }, () => {
    const flagKey = `f${text(12)}`;
    const targetingKey = text(24);
    const kind = random();
    const rolloutPct =
      kind < 0.2
        ? pick(AWKWARD, random)
        : kind < 0.5
          ? atBoundary(flagKey, targetingKey, random)
          : Math.round(random() * 1e7) / 1e5;
    return { flagKey, targetingKey, rolloutPct, isIn: isInRollout(flagKey, targetingKey, rolloutPct) };
  });
}

/**
 * A percentage that ends at the target's own bucket, before it, or between, where rounding decides: 1.001 times 1,000 is a
 * little below 1,001.
 */
function atBoundary(flagKey: string, targetingKey: string, random: () => number): number {
  return (rolloutBucket(flagKey, targetingKey) + pick([0, 0.5, 1], random)) / 1_000;
}

function pick<T>(all: readonly T[], random: () => number): T {
  // `T`: the index is below the length, and no list is empty.
  return all[Math.floor(random() * all.length)] as T;
}

/** Numbers from 0 to 1 from a seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
