import HistoryIcon from 'lucide-react/icons/history';
import { useCallback, useMemo, useState } from 'react';
import { type AuditFilter, useAudit } from '../../api/audit.ts';
import type { ProjectDelivery } from '../../api/project-deliveries.ts';
import { useCan } from '../../api/session.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Problem } from '../../components/problem.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { ChangeItem } from './change-item.tsx';
import { DayHeading } from './day-heading.tsx';
import { deliveryOf } from './delivery-of.ts';
import { type Change, groupChanges } from './group-changes.ts';
import { HistoryFilters } from './history-filters.tsx';
import { ProjectRevert } from './project-revert.tsx';
import { useFresh } from './use-fresh.ts';

const NO_DELIVERIES: readonly ProjectDelivery[] = [];

/** What a filter leaves of the history. Of one project it knows the environments and how far changes came. */
export function Timeline({
  filter,
  environments,
  deliveries = NO_DELIVERIES,
}: {
  filter: AuditFilter;
  environments: readonly EnvironmentRecord[];
  deliveries?: readonly ProjectDelivery[] | undefined;
}) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useAudit(filter);
  const entries = useMemo(() => data?.pages.flat() ?? [], [data]);
  const days = useMemo(() => groupChanges(entries), [entries]);
  const isFresh = useFresh(JSON.stringify(filter), data?.pages[0]);
  const bySeq = useMemo(() => new Map(deliveries.map((each) => [each.seq, each])), [deliveries]);
  const canRevert = useCan('editor');
  const [reverted, setReverted] = useState<Change>();
  const isFiltered = Object.entries(filter).some(([name, value]) => name !== 'project' && value !== '');
  const close = useCallback(() => setReverted(undefined), []);

  return (
    <>
      <HistoryFilters filter={filter} environments={environments} entries={entries} />
      {error && data === undefined ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : data === undefined ? (
        <SkeletonRows />
      ) : entries.length === 0 ? (
        <NothingFound isFiltered={isFiltered} />
      ) : (
        days.map(({ day, changes }) => (
          <section key={day} className="mb-4" aria-label={day}>
            <DayHeading day={day} />
            <ol className="overflow-hidden rounded-lg border border-line bg-surface">
              {changes.map((change) => (
                <ChangeItem
                  key={change.first.id}
                  change={change}
                  environments={environments}
                  delivery={deliveryOf(change, bySeq)}
                  isFresh={isFresh(change.seq)}
                  showsProject={filter.project === undefined}
                  onRevert={canRevert ? setReverted : undefined}
                />
              ))}
            </ol>
          </section>
        ))
      )}
      {hasNextPage && (
        <div className="py-2 text-center">
          <Button onClick={() => void fetchNextPage()} disabled={isFetchingNextPage}>
            {isFetchingNextPage ? 'Loading…' : 'Load older changes'}
          </Button>
        </div>
      )}
      {reverted?.first.project !== undefined && (
        <ProjectRevert project={reverted.first.project} seq={reverted.seq} onClose={close} />
      )}
    </>
  );
}

function NothingFound({ isFiltered }: { isFiltered: boolean }) {
  return (
    <EmptyState
      icon={<HistoryIcon size={20} aria-hidden />}
      title={isFiltered ? 'Nothing matches the filter' : 'Nothing has happened yet'}
    >
      {isFiltered
        ? 'Take a part of the filter away to see more.'
        : 'Every change is kept here for good: who made it, when, what it was before, and why.'}
    </EmptyState>
  );
}
