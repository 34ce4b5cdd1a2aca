import type { FlagRecord, LastReads } from '../../api/types.ts';
import { isUnread } from '../../api/usage.ts';
import { STALE_DAYS, staleDays } from '../../flags/flag-filter.ts';
import { isDone } from '../../flags/is-done.ts';

/** Why a flag may be removed, or `permanent` for one that is meant to stay. A flag can have several reasons. */
export const REASONS = ['done', 'unread', 'same', 'permanent', 'archived'] as const;

/** One of {@link REASONS}. */
export type Reason = (typeof REASONS)[number];

/** How long a flag has been archived before it is worth deleting, in milliseconds. */
const ARCHIVED_MS = 90 * 86_400_000;

/** What the reasons depend on, besides the flags. */
interface Facts {
  /** How many environments the project has. */
  readonly environments: number;
  /** `undefined` where reads have not been counted for long enough. */
  readonly lastReads: LastReads | undefined;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** The flags that may be removed, by reason, those that have not changed for longest first. Permanent ones are listed apart. */
export function candidates(
  flags: readonly FlagRecord[],
  archived: readonly FlagRecord[],
  facts: Facts,
): Readonly<Record<Reason, readonly FlagRecord[]>> {
  const byReason = { done: [], unread: [], same: [], permanent: [], archived: [] } as Record<
    Reason,
    FlagRecord[]
  >;
  for (const flag of [...flags, ...archived])
    for (const reason of reasonsOf(flag, facts)) byReason[reason].push(flag);

  const days = (flag: FlagRecord) => staleDays(flag, facts.environments, facts.now);
  for (const list of Object.values(byReason)) list.sort((one, other) => days(other) - days(one));
  return byReason;
}

/** Why a flag may be removed; empty for one that is in use. */
export function reasonsOf(flag: FlagRecord, { environments, lastReads, now }: Facts): readonly Reason[] {
  if (flag.archivedAt !== undefined)
    return now - Date.parse(flag.archivedAt) >= ARCHIVED_MS ? ['archived'] : [];
  if (flag.permanent) return ['permanent'];

  const reasons: Reason[] = [];
  if (isDone(flag, environments, now)) reasons.push('done');
  else if (staleDays(flag, environments, now) >= STALE_DAYS.stale30) reasons.push('same');
  if (lastReads !== undefined && isUnread(flag, lastReads, now)) reasons.push('unread');
  return reasons;
}
