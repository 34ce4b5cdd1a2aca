import { classNames } from './class-names.ts';

/** A grey bar where text will be. */
export function Skeleton({ className }: { className?: string }) {
  return <span aria-hidden className={classNames('block h-3 animate-shimmer rounded bg-line', className)} />;
}

/** Rows that stand for a table or a list while it is being loaded. */
export function SkeletonRows({ rows = 8 }: { rows?: number }) {
  return (
    <div role="status" aria-label="Loading" className="divide-y divide-line">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move
        <div key={index} className="flex h-12 items-center gap-6 px-4">
          <Skeleton className="w-1/3" />
          <Skeleton className="w-1/6" />
          <Skeleton className="w-1/6" />
        </div>
      ))}
    </div>
  );
}
