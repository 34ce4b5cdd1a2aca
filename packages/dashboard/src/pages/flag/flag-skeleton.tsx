import { Alike, Loading, Skeleton } from '../../components/screen-states.tsx';

/** Shown below the heading of a flag while it is loading: its facts, its tabs, and a row for each environment. */
export function FlagSkeleton({ environments }: { environments: number }) {
  return (
    <Loading>
      <Skeleton className="h-3.5 w-96 max-w-full" />
      <div className="mt-5 flex gap-6">
        <Alike count={3} className="w-24">
          <Skeleton />
        </Alike>
      </div>

      <div className="mt-8 flex gap-8 border-b border-line pb-3">
        <Alike count={3} className="w-16">
          <Skeleton />
        </Alike>
      </div>

      <div className="mt-5 grid gap-5 lg:grid-cols-[minmax(0,1fr)_21rem]">
        <div className="rounded-lg border border-line bg-surface">
          <Alike
            count={environments}
            className="flex h-11.5 items-center gap-6 border-t border-line px-4 first:border-t-0"
          >
            <Skeleton className="w-28" />
            <Skeleton className="h-4.5 w-8.5 rounded-full" />
            <Skeleton className="w-24 max-sm:hidden" />
            <Skeleton className="w-40 max-sm:hidden" />
          </Alike>
        </div>
        <Skeleton className="h-64 rounded-lg max-lg:hidden" />
      </div>
    </Loading>
  );
}
