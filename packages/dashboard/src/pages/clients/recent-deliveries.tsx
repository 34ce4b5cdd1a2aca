import CircleCheck from 'lucide-react/icons/circle-check';
import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { useMemo, useState } from 'react';
import { type ProjectDelivery, useProjectDeliveries } from '../../api/clients.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { Table, Td, Th, Tr } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { distributionOf, percentile } from './distribution.ts';

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

/** How the times are spread: bars whose figures stand beside them in words. */
function DeliveryHistogram({ deliveries }: { deliveries: readonly ProjectDelivery[] }) {
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

/** Changes and how far each has come, newest first. */
function DeliveryTable({
  deliveries,
  environments,
}: {
  deliveries: readonly ProjectDelivery[];
  environments: readonly EnvironmentRecord[];
}) {
  return (
    <Table label="Changes and how far they came">
      <thead>
        <tr>
          <Th className="text-right">Change</Th>
          <Th>Environment</Th>
          <Th className="text-right">Seen by</Th>
          <Th className="text-right">Slowest</Th>
          <Th className="max-sm:hidden">When</Th>
        </tr>
      </thead>
      <tbody>
        {deliveries.map((delivery) => {
          const environment = environments.find(({ name }) => name === delivery.environment);
          return (
            <Tr key={delivery.seq}>
              <Td className="h-9 text-right">{delivery.seq}</Td>
              <Td className="h-9">
                {environment === undefined ? (
                  delivery.environment
                ) : (
                  <EnvironmentBadge environment={environment} />
                )}
              </Td>
              <Td className="h-9 text-right whitespace-nowrap">
                <Seen delivery={delivery} />
              </Td>
              <Td className="h-9 text-right whitespace-nowrap">
                {delivery.seen === 0
                  ? '–'
                  : delivery.slowestMs < 1
                    ? '< 1 ms'
                    : `${Math.round(delivery.slowestMs)} ms`}
              </Td>
              <Td className="h-9 text-ink-2 max-sm:hidden">
                {delivery.committedAt !== undefined && <TimeAgo at={delivery.committedAt} />}
              </Td>
            </Tr>
          );
        })}
      </tbody>
    </Table>
  );
}

function Seen({ delivery: { seen, streams } }: { delivery: ProjectDelivery }) {
  const isAll = seen === streams;
  return (
    <span className="inline-flex items-center gap-1.5">
      {seen} of {streams}
      {isAll ? (
        <CircleCheck size={13} className="text-good" role="img" aria-label="all of them" />
      ) : (
        <TriangleAlert size={13} className="text-warn" role="img" aria-label="not all of them" />
      )}
    </span>
  );
}
