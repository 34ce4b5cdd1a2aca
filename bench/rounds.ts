import { median } from './statistics.ts';

/**
 * Does the work of every side in turn, round after round, so that a slow moment of the machine meets all of them.
 * Returns the results by side, without those of round 0, which warms up.
 */
export async function inTurn<Side, Result>(
  sides: Iterable<Side>,
  rounds: number,
  work: (side: Side, round: number) => Promise<Result>,
): Promise<ReadonlyMap<Side, readonly Result[]>> {
  const results = new Map([...sides].map((side) => [side, [] as Result[]]));
  for (let round = 0; round <= rounds; round++) {
    for (const [side, all] of results) {
      const result = await work(side, round);
      if (round > 0) all.push(result);
    }
  }
  return results;
}

/** The median of each member over some rounds. */
export function medians<Name extends string>(rounds: readonly Readonly<Record<Name, number>>[]) {
  const names = Object.keys(rounds[0] ?? {});
  const middle = names.map((name) => [name, median(rounds.map((round) => round[name as Name]))]);
  // The names are those of the first round, which has all of them.
  return Object.fromEntries(middle) as Record<Name, number>;
}
