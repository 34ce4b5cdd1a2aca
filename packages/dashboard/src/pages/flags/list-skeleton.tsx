import { classNames } from '../../components/class-names.ts';
import { GRID, HEADING } from '../../components/page.tsx';
import { Alike, Skeleton, TriedAgain } from '../../components/screen-states.tsx';
import { messages } from './messages.ts';

/** Rows that fill a window, and columns of environments that fit beside the key. */
const [ROWS, MOST_COLUMNS] = [9, 5];

/** Shown in place of the flag list while it is loading: nothing moves when it appears. `failure`: why the latest attempt failed. */
export function FlagListSkeleton({ environments, failure }: { environments: number; failure: unknown }) {
  return (
    <div role="status" aria-label="Loading" className={classNames(GRID, 'pt-4')}>
      <div className="flex h-8 items-center justify-between">
        <h1 className={HEADING}>{messages.flags}</h1>
        <Skeleton className="h-8 w-26 rounded-md" />
      </div>
      <TriedAgain reason={failure} />

      <div className="animate-shimmer">
        <div className="my-3 flex gap-2">
          <Skeleton className="h-8 flex-1 rounded-md sm:max-w-xs" />
          <Alike count={3} className="w-24 max-sm:hidden">
            <Skeleton className="h-8 rounded-md" />
          </Alike>
        </div>

        <div className="overflow-hidden rounded-lg border border-line bg-surface">
          <Alike
            count={ROWS}
            className="flex h-13.5 items-center gap-4 border-t border-line px-4 first:border-t-0"
          >
            <Skeleton className="size-4 shrink-0 max-sm:order-last" />
            <div className="w-80 max-w-full shrink-0 space-y-2 max-sm:flex-1 max-sm:shrink">
              <Skeleton className="w-3/5" />
              <Skeleton className="h-2.5 w-2/5" />
            </div>
            <Alike
              count={Math.min(environments, MOST_COLUMNS)}
              className="flex flex-1 items-center gap-2 max-md:hidden"
            >
              <Skeleton className="h-4.5 w-8.5 rounded-full" />
              <Skeleton className="w-5" />
            </Alike>
          </Alike>
        </div>
      </div>
    </div>
  );
}
