import HistoryIcon from 'lucide-react/icons/history';
import { useCallback, useMemo, useState } from 'react';
import { type AuditEntryRecord, type AuditFilter, useAudit } from '../../api/audit.ts';
import type { ProjectDelivery } from '../../api/project-deliveries.ts';
import { useCan } from '../../api/session.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { RefusalNote } from '../../changes/refusal-note.tsx';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Problem } from '../../components/problem.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { ChangeItem } from './change-item.tsx';
import { DayHeading } from './day-heading.tsx';
import { deliveryOf } from './delivery-of.ts';
import { FarAway } from './far-away.tsx';
import { type Change, groupChanges } from './group-changes.ts';
import { HistoryFilters } from './history-filters.tsx';
import { ProjectRevert } from './project-revert.tsx';
import { useFresh } from './use-fresh.ts';

const NO_ENTRIES: readonly AuditEntryRecord[] = [];
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
  const { entries, error, refetch, ...log } = useAudit(filter);
  const days = useMemo(() => groupChanges(entries ?? []), [entries]);
  const isFresh = useFresh(JSON.stringify(filter), entries);
  const bySeq = useMemo(() => new Map(deliveries.map((each) => [each.seq, each])), [deliveries]);
  const canRevert = useCan('editor');
  const [reverted, setReverted] = useState<Change>();
  const isFiltered = Object.entries(filter).some(([name, value]) => name !== 'project' && value !== '');
  const close = useCallback(() => setReverted(undefined), []);

  return (
    <>
      <HistoryFilters filter={filter} environments={environments} entries={entries ?? NO_ENTRIES} />
      {error && entries === undefined ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : entries === undefined ? (
        <SkeletonRows />
      ) : entries.length === 0 ? (
        <NothingFound isFiltered={isFiltered} />
      ) : (
        days.map(({ day, changes }) => (
          <section key={day} className="mb-4" aria-label={day}>
            <DayHeading day={day} />
            <div className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
              {partsOf(changes).map(([name, part]) => (
                <FarAway key={name}>
                  <ol>
                    {part.map((change) => (
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
                </FarAway>
              ))}
            </div>
          </section>
        ))
      )}
      <RefusalNote error={log.olderError} />
      {log.hasOlder && (
        <div className="py-2 text-center">
          <Button onClick={log.loadOlder} disabled={log.isLoadingOlder}>
            {log.isLoadingOlder ? 'Loading…' : 'Load older changes'}
          </Button>
        </div>
      )}
      {reverted?.first.project !== undefined && (
        <ProjectRevert project={reverted.first.project} seq={reverted.seq} onClose={close} />
      )}
    </>
  );
}

/** As many numbers of changes are drawn together, or not at all. */
const PART = 20;

/** Changes in parts by their number: a part stays the same when others are put before or after it. */
function partsOf(changes: readonly Change[]): readonly (readonly [name: string, part: readonly Change[]])[] {
  const parts: [string, Change[]][] = [];
  let last: number | undefined;
  for (const change of changes) {
    const number = Math.floor(change.seq / PART);
    if (number === last) parts.at(-1)?.[1].push(change);
    else parts.push([`${number} ${change.first.id}`, [change]]);
    last = number;
  }
  return parts;
}

function NothingFound({ isFiltered }: { isFiltered: boolean }) {
  return (
    <EmptyState
      icon={<HistoryIcon size={20} aria-hidden />}
      title={isFiltered ? 'Nothing matches the filter' : 'Nothing has happened yet'}
    >
      {isFiltered
        ? 'Remove a filter to see more.'
        : 'Every change is kept here for good: who made it, when, what it was before, and why.'}
    </EmptyState>
  );
}
