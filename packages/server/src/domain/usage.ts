import type { FlagReads } from '@halyard/protocol';

/** The outcomes of a read: the flag was on for the reader, or off. */
export const USAGE_OUTCOMES = ['on', 'off'] as const;

/** The outcome of a read. */
export type UsageOutcome = (typeof USAGE_OUTCOMES)[number];

/** How many days hourly reads are kept, and how many rows at most; beyond that, the oldest hours are removed. */
export const USAGE_RETENTION = { days: 30, rows: 2_000_000 } as const;

/** How often the flags of one environment were read since the last time. */
export interface EnvironmentUsage {
  readonly environmentId: string;
  readonly flags: readonly FlagReads[];
}

/** The same counts in parts of at most so many flags. */
export function* usageParts(
  usage: readonly EnvironmentUsage[],
  most: number,
): Generator<readonly EnvironmentUsage[]> {
  let part: EnvironmentUsage[] = [];
  let room = most;
  for (const { environmentId, flags } of usage) {
    for (let start = 0; start < flags.length; ) {
      const some = flags.slice(start, start + room);
      part.push({ environmentId, flags: some });
      start += some.length;
      room -= some.length;
      if (room > 0) continue;
      yield part;
      part = [];
      room = most;
    }
  }
  if (part.length > 0) yield part;
}

/** Where reads are added up. */
export interface UsageStore {
  /**
   * Adds reads to the hour of `at` (epoch milliseconds), in one transaction. When the connection is lost during COMMIT, the
   * outcome is looked up before this settles; a `CommitUncertainError` means that it is not known.
   */
  add(usage: readonly EnvironmentUsage[], at: number): Promise<void>;
  /** Removes the hours that {@link USAGE_RETENTION} does not keep. */
  prune(now: number): Promise<void>;
}
