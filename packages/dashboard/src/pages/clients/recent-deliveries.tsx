import CircleCheck from 'lucide-react/icons/circle-check';
import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { useMemo, useState } from 'react';
import { useProjectDeliveries } from '../../api/clients.ts';
import type { DeliveryRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { ChangedPlaces } from '../../components/changed-places.tsx';
import { EnvironmentName } from '../../components/environment-name.tsx';
import { Loaded } from '../../components/screen-states.tsx';
import { RecordCell, RecordHead, RecordRow, RecordTable } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { distributionOf, percentile } from './distribution.ts';
import { messages } from './messages.tsx';

const FEW = 12;
const NONE: readonly DeliveryRecord[] = [];

/** How fast the newest changes reached the open streams. */
export function RecentDeliveries({ project, areConnected }: { project: string; areConnected: boolean }) {
  const reading = useProjectDeliveries(project);
  const { data } = reading;
  const [isWhole, setWhole] = useState(false);
  // Without an open stream there is no delivery time.
  const reached = useMemo(() => data?.filter(({ streams }) => streams > 0) ?? NONE, [data]);

  return (
    <section className="mt-8" aria-labelledby="recent-deliveries">
      <h2 id="recent-deliveries" className="mb-1 text-lg font-semibold">
        {messages.deliveries}
      </h2>
      <p className="mb-3 max-w-2xl text-ink-2">{messages.deliveriesIntro}</p>
      <Loaded reading={reading} rows={3}>
        {() =>
          reached.length === 0 ? (
            <p className="rounded-lg border border-line bg-surface px-4 py-8 text-center text-ink-2">
              {messages.noDeliveries(areConnected)}
            </p>
          ) : (
            <div className="grid items-start gap-3 lg:grid-cols-[20rem_1fr]">
              <DeliveryHistogram deliveries={reached} />
              <div className="min-w-0">
                <DeliveryTable project={project} deliveries={isWhole ? reached : reached.slice(0, FEW)} />
                {reached.length > FEW && (
                  <Button kind="quiet" className="mt-1" onClick={() => setWhole(!isWhole)}>
                    {isWhole ? messages.showFewer : messages.showAll(reached.length)}
                  </Button>
                )}
              </div>
            </div>
          )
        }
      </Loaded>
    </section>
  );
}

/** The distribution of delivery times as bars, each with its figure. */
function DeliveryHistogram({ deliveries }: { deliveries: readonly DeliveryRecord[] }) {
  const times = useMemo(() => deliveries.map(({ slowestMs }) => slowestMs), [deliveries]);
  const buckets = useMemo(() => distributionOf(times), [times]);
  const most = Math.max(...buckets.map(({ count }) => count));

  return (
    <div className="rounded-lg border border-line bg-surface p-4">
      <dl className="mb-3 grid grid-cols-3 gap-2">
        <Figure name={messages.median} ms={percentile(times, 0.5)} />
        <Figure name={messages.p95} ms={percentile(times, 0.95)} />
        <Figure name={messages.slowest} ms={Math.max(...times)} />
      </dl>
      <ul aria-label={messages.histogram(times.length)} className="space-y-1">
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

/** A bar of a length from 0 to 1; hidden from screen readers, which read the figure. */
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
      <dd className="text-lg font-semibold">{messages.ms(ms)}</dd>
    </div>
  );
}

const [, environmentColumn, seenColumn, slowestColumn, timeColumn] = messages.columns;

/** Changes and their delivery, newest first. */
function DeliveryTable({ project, deliveries }: { project: string; deliveries: readonly DeliveryRecord[] }) {
  return (
    <RecordTable label={messages.table} columns={messages.columns}>
      {deliveries.map((delivery) => (
        <RecordRow key={delivery.seq}>
          <RecordHead>
            <ChangedPlaces project={project} change={delivery} />
          </RecordHead>
          <RecordCell label={environmentColumn.label}>
            <EnvironmentName name={delivery.environment} />
          </RecordCell>
          <RecordCell label={seenColumn.label} className="lg:whitespace-nowrap">
            <Seen delivery={delivery} />
          </RecordCell>
          <RecordCell label={slowestColumn.label} className="lg:whitespace-nowrap">
            {delivery.seen === 0 ? messages.notSeen : messages.ms(delivery.slowestMs)}
          </RecordCell>
          <RecordCell label={timeColumn.label} className="text-ink-2">
            {delivery.committedAt !== undefined && <TimeAgo at={delivery.committedAt} />}
          </RecordCell>
        </RecordRow>
      ))}
    </RecordTable>
  );
}

function Seen({ delivery: { seen, streams } }: { delivery: DeliveryRecord }) {
  const isAll = seen === streams;
  return (
    <span className="inline-flex items-center gap-1.5">
      {messages.seen(seen, streams)}
      {isAll ? (
        <CircleCheck size={13} className="text-good" role="img" aria-label={messages.seenByAll} />
      ) : (
        <TriangleAlert size={13} className="text-warn" role="img" aria-label={messages.notSeenByAll} />
      )}
    </span>
  );
}
