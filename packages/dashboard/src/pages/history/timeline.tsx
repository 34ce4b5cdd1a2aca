import HistoryIcon from 'lucide-react/icons/history';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type AuditFilter, useAudit } from '../../api/audit.ts';
import { useCan } from '../../api/session.ts';
import type { AuditEntryRecord } from '../../api/types.ts';
import { RevertDialog } from '../../changes/revert-dialog.tsx';
import { Button } from '../../components/button.tsx';
import { RefusalNote } from '../../components/form.tsx';
import { Alike, EmptyState, Loaded, Loading, Skeleton } from '../../components/screen-states.tsx';
import { LOCALE } from '../../components/time-ago.tsx';
import { BurstItem, type ListFacts } from './change-item.tsx';
import { burstsOf, type Change, groupChanges } from './group-changes.ts';
import { HistoryFilters } from './history-filters.tsx';
import { messages } from './messages.ts';
import { Parts } from './near-screen.tsx';

const NO_ENTRIES: readonly AuditEntryRecord[] = [];

/** The changes that match a filter. */
export function Timeline({ filter }: { filter: AuditFilter }) {
  const { entries, error, failureReason, refetch, ...log } = useAudit(filter);
  const days = useMemo(
    () => groupChanges(entries ?? []).map(({ day, changes }) => ({ day, bursts: burstsOf(changes) })),
    [entries],
  );
  const lines = days.reduce((sum, { bursts }) => sum + bursts.length, 0);
  const listed = JSON.stringify(filter);
  useFilled({ ...log, isShort: entries !== undefined && lines < LEAST_LINES, list: listed });
  const isFresh = useIsNew(listed, entries);

  const canRevert = useCan('editor');
  const [reverted, setReverted] = useState<Change>();
  const close = useCallback(() => setReverted(undefined), []);
  const isFiltered = Object.entries(filter).some(([name, value]) => name !== 'project' && value !== '');
  const showsProject = filter.project === undefined;
  const list = useMemo<ListFacts>(
    () => ({
      showsProject,
      isFresh,
      onRevert: canRevert ? setReverted : undefined,
    }),
    [showsProject, isFresh, canRevert],
  );

  return (
    <>
      <HistoryFilters filter={filter} entries={entries ?? NO_ENTRIES} />

      <Loaded reading={{ data: entries, error, failureReason, refetch }} skeleton={<ChangesSkeleton />}>
        {({ length }) =>
          length === 0 ? (
            <NothingFound isFiltered={isFiltered} />
          ) : (
            days.map(({ day, bursts }) => (
              <section key={day} className="mb-4" aria-label={day}>
                <DayHeading day={day} />
                <div className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
                  <Parts items={bursts} seqOf={({ newest }) => newest.seq}>
                    {(burst) => <BurstItem key={burst.id} burst={burst} list={list} />}
                  </Parts>
                </div>
              </section>
            ))
          )
        }
      </Loaded>

      <RefusalNote error={log.olderError} />
      {log.hasOlder && (
        <div className="py-2 text-center">
          <Button onClick={log.loadOlder} disabled={log.isLoadingOlder}>
            {log.isLoadingOlder ? messages.loading : messages.loadOlder}
          </Button>
        </div>
      )}

      {reverted?.first.project !== undefined && (
        <RevertDialog project={reverted.first.project} seq={reverted.seq} onClose={close} />
      )}
    </>
  );
}

/** Shown in place of the changes of a day while they are loading. */
function ChangesSkeleton() {
  return (
    <Loading>
      <Skeleton className="my-2.5 w-48" />
      <div className="divide-y divide-line rounded-lg border border-line bg-surface">
        <Alike count={12} className="flex h-9 items-center gap-3 px-4">
          <Skeleton className="size-6 shrink-0 rounded-full" />
          <Skeleton className="w-3/5" />
          <Skeleton className="ml-auto w-8" />
        </Alike>
      </div>
    </Loading>
  );
}

/** A list with fewer lines than this loads older entries by itself: the many changes of a script share one line. */
const LEAST_LINES = 20;

/** How often a list does that. */
const MOST_FILLS = 10;

/** Loads older entries while the list is short, a limited number of times. The count restarts when `list` changes. */
function useFilled({
  list,
  isShort,
  hasOlder,
  isLoadingOlder,
  olderError,
  loadOlder,
}: Pick<ReturnType<typeof useAudit>, 'hasOlder' | 'isLoadingOlder' | 'olderError' | 'loadOlder'> & {
  readonly list: string;
  readonly isShort: boolean;
}): void {
  const filled = useRef({ list, times: 0 });
  const isDue = isShort && hasOlder && !isLoadingOlder && olderError === null;
  useEffect(() => {
    if (filled.current.list !== list) filled.current = { list, times: 0 };
    if (!isDue || filled.current.times === MOST_FILLS) return;
    filled.current.times++;
    loadOlder();
  });
}

function NothingFound({ isFiltered }: { isFiltered: boolean }) {
  return (
    <EmptyState icon={HistoryIcon} title={isFiltered ? messages.nothingMatches : messages.nothingYet}>
      {isFiltered ? messages.removeFilter : messages.emptyHint}
    </EmptyState>
  );
}

const format = new Intl.DateTimeFormat(LOCALE, {
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});

/** A day of the timeline: `day` is local, as `2027-01-31`. */
export function DayHeading({ day }: { day: string }) {
  return (
    <h2 className="sticky top-0 z-10 bg-bg py-2 text-xs font-semibold tracking-wide text-ink-2">
      {dayText(day, new Date())}
    </h2>
  );
}

function dayText(day: string, now: Date): string {
  const [year = 0, month = 1, date = 1] = day.split('-').map(Number);
  const start = new Date(year, month - 1, date);
  const today = new Date(now.getFullYear(), now.getMonth(), now.getDate());
  // Days of a clock change are an hour longer or shorter.
  const daysAgo = Math.round((today.getTime() - start.getTime()) / 86_400_000);
  if (daysAgo === 0) return messages.today(format.format(start));
  return daysAgo === 1 ? messages.yesterday(format.format(start)) : format.format(start);
}

/** Returns whether a change arrived after the list was first shown; `list` identifies what is listed. */
function useIsNew(list: string, entries: readonly AuditEntryRecord[] | undefined): (seq: number) => boolean {
  const shown = useRef<{ list: string; newest: number }>(undefined);
  if (entries !== undefined && shown.current?.list !== list)
    shown.current = { list, newest: entries[0]?.operation ?? 0 };
  return useCallback((seq) => shown.current !== undefined && seq > shown.current.newest, []);
}
