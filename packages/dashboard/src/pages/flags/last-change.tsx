import type { FlagRecord } from '../../api/types.ts';
import { authorText } from '../../components/audit/deed-text.ts';
import { classNames } from '../../components/class-names.ts';
import { TimeAgo } from '../../components/time-ago.tsx';
import { type LastChangeFacts, lastChange } from './flag-filter.ts';

/** When a flag last changed, and by whom where that is known: "2 min. ago by ada@example.com". */
export function LastChange({ flag, className }: { flag: FlagRecord; className?: string }) {
  // Who archived it is not in its record; the states' authors did something else.
  const { at, by }: LastChangeFacts =
    flag.archivedAt === undefined ? lastChange(flag) : { at: flag.archivedAt };
  const author = by === undefined ? undefined : authorText(by);
  return (
    <p className={classNames('flex min-w-0 text-xs text-ink-3', className)}>
      <TimeAgo at={at} className="shrink-0 whitespace-nowrap" />
      {author !== undefined && (
        <span className="max-w-full truncate" title={author}>
          {' '}
          by {author}
        </span>
      )}
    </p>
  );
}
