import { useMemo, useState } from 'react';
import { type ProjectDelivery, useProjectDeliveries } from '../../api/project-deliveries.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { Problem } from '../../components/problem.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { DeliveryHistogram } from './delivery-histogram.tsx';
import { DeliveryTable } from './delivery-table.tsx';

const FEW = 12;
const NONE: readonly ProjectDelivery[] = [];

/** How soon the newest changes reached the streams that were open. */
export function RecentDeliveries({
  project,
  environments,
}: {
  project: string;
  environments: readonly EnvironmentRecord[];
}) {
  const { data, error, refetch } = useProjectDeliveries(project);
  const [isWhole, setWhole] = useState(false);
  // A change that met no stream has no time.
  const reached = useMemo(() => data?.filter(({ streams }) => streams > 0) ?? NONE, [data]);
  return (
    <section className="mt-8" aria-labelledby="recent-deliveries">
      <h2 id="recent-deliveries" className="mb-1 text-lg font-semibold">
        Recent deliveries
      </h2>
      <p className="mb-3 max-w-2xl text-ink-2">
        From the commit of a change until the slowest of the open streams had taken it.
      </p>
      {error && data === undefined ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <SkeletonRows rows={3} />
      ) : reached.length === 0 ? (
        <p className="rounded-lg border border-line bg-surface px-4 py-8 text-center text-ink-2">
          No change has met an open stream yet. Connect a client and change a flag: the time it took stands
          here.
        </p>
      ) : (
        <div className="grid items-start gap-3 lg:grid-cols-[20rem_1fr]">
          <DeliveryHistogram deliveries={reached} />
          <div className="min-w-0">
            <DeliveryTable
              deliveries={isWhole ? reached : reached.slice(0, FEW)}
              environments={environments}
            />
            {reached.length > FEW && (
              <Button kind="quiet" className="mt-1" onClick={() => setWhole(!isWhole)}>
                {isWhole ? 'Show fewer' : `Show all ${reached.length}`}
              </Button>
            )}
          </div>
        </div>
      )}
    </section>
  );
}
