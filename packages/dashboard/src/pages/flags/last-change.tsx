import type { FlagRecord } from '../../api/types.ts';
import { Author } from '../../components/author.tsx';
import { classNames } from '../../components/class-names.ts';
import { TimeAgo } from '../../components/time-ago.tsx';
import { type LastChangeFacts, lastChange } from './flag-filter.ts';

/** When a flag last changed, and by whom where that is known: "2 min. ago by Ada Lovelace". */
export function LastChange({ flag, className }: { flag: FlagRecord; className?: string }) {
  // Who archived it is not in its record; the states' authors did something else.
  const { at, by }: LastChangeFacts =
    flag.archivedAt === undefined ? lastChange(flag) : { at: flag.archivedAt };
  return (
    <p className={classNames('flex min-w-0 text-xs text-ink-3', className)}>
      <TimeAgo at={at} className="shrink-0 whitespace-nowrap" />
      {by !== undefined && (
        <span className="max-w-full truncate">
          {' '}
          by <Author actor={by} />
        </span>
      )}
    </p>
  );
}
