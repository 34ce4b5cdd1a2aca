import { useMemo } from 'react';
import type { ProjectDelivery } from '../../api/project-deliveries.ts';
import { distributionOf, percentile } from './distribution.ts';

/** How the times are spread: bars whose figures stand beside them in words. */
export function DeliveryHistogram({ deliveries }: { deliveries: readonly ProjectDelivery[] }) {
  const times = useMemo(() => deliveries.map(({ slowestMs }) => slowestMs), [deliveries]);
  const buckets = useMemo(() => distributionOf(times), [times]);
  const most = Math.max(...buckets.map(({ count }) => count));
  return (
    <div className="rounded-lg border border-line bg-surface p-4">
      <dl className="mb-3 grid grid-cols-3 gap-2">
        <Figure name="median" ms={percentile(times, 0.5)} />
        <Figure name="95 %" ms={percentile(times, 0.95)} />
        <Figure name="slowest" ms={Math.max(...times)} />
      </dl>
      <ul aria-label={`The last ${times.length} changes by the time they took`} className="space-y-1">
        {buckets.map(({ name, count }) => (
          <li key={name} className="grid grid-cols-[5.5rem_1fr_2rem] items-center gap-2 text-xs">
            <span className="text-ink-2">{name}</span>
            <Bar share={count / most} />
            <span className="text-right">{count}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** The picture of a share of the longest bar, 0 to 1; the number beside it says the same. */
function Bar({ share }: { share: number }) {
  return (
    <svg aria-hidden className="h-3 w-full" viewBox="0 0 100 10" preserveAspectRatio="none">
      <rect width="100" height="10" className="fill-hover" rx="1" />
      <rect width={share * 100} height="10" className="fill-accent" rx="1" />
    </svg>
  );
}

function Figure({ name, ms }: { name: string; ms: number }) {
  return (
    <div>
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="text-lg font-semibold">{ms < 1 ? '< 1 ms' : `${Math.round(ms)} ms`}</dd>
    </div>
  );
}
