import HistoryIcon from 'lucide-react/icons/history';
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { type AuditFilter, useAudit } from '../../api/audit.ts';
import { useProject } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import type { AuditEntryRecord, DeliveryRecord, EnvironmentRecord } from '../../api/types.ts';
import { RevertDialog } from '../../components/audit/revert-dialog.tsx';
import { Button } from '../../components/button.tsx';
import { RefusalNote } from '../../components/form.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { LOCALE } from '../../components/time-ago.tsx';
import { ChangeItem } from './change-item.tsx';
import { type Change, deliveryOf, groupChanges } from './group-changes.ts';
import { HistoryFilters } from './history-filters.tsx';
import { messages } from './messages.ts';

const NO_ENTRIES: readonly AuditEntryRecord[] = [];
const NO_DELIVERIES: readonly DeliveryRecord[] = [];

/** The changes that match a filter. Of one project it knows the environments and how far changes came. */
export function Timeline({
  filter,
  environments,
  deliveries = NO_DELIVERIES,
}: {
  filter: AuditFilter;
  environments: readonly EnvironmentRecord[];
  deliveries?: readonly DeliveryRecord[] | undefined;
}) {
  const { entries, error, refetch, ...log } = useAudit(filter);
  const days = useMemo(() => groupChanges(entries ?? []), [entries]);
  const isFresh = useIsNew(JSON.stringify(filter), entries);
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
                <NearScreen key={name}>
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
                </NearScreen>
              ))}
            </div>
          </section>
        ))
      )}
      <RefusalNote error={log.olderError} />
      {log.hasOlder && (
        <div className="py-2 text-center">
          <Button onClick={log.loadOlder} disabled={log.isLoadingOlder}>
            {log.isLoadingOlder ? messages.loading : messages.loadOlder}
          </Button>
        </div>
      )}
      {reverted?.first.project !== undefined && (
        <ProjectRevert project={reverted.first.project} seq={reverted.seq} onClose={close} />
      )}
    </>
  );
}

/** How many change numbers are drawn together, or not at all. */
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
      title={isFiltered ? messages.nothingMatches : messages.nothingYet}
    >
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
function DayHeading({ day }: { day: string }) {
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

/** How far outside of the screen a part of a list is still drawn, in pixels. */
const MARGIN_PX = 1200;

/**
 * A part of a long list that is drawn only while it is near the screen; otherwise an empty box of the same height keeps
 * its place. A part with the focus in it stays.
 */
function NearScreen({ children }: { children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState<number>();
  useEffect(() => {
    const box = ref.current;
    if (box === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const latest = entries.at(-1);
        if (latest === undefined) return;
        if (latest.isIntersecting) setHeight(undefined);
        else if (!box.contains(document.activeElement)) setHeight(latest.boundingClientRect.height);
      },
      { root: box.closest('main'), rootMargin: `${MARGIN_PX}px 0px` },
    );
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={ref} style={height === undefined ? undefined : { height }}>
      {height === undefined && children}
    </div>
  );
}

/** Returns whether a change arrived after the list was first shown; `list` identifies what is listed. */
function useIsNew(list: string, entries: readonly AuditEntryRecord[] | undefined): (seq: number) => boolean {
  const shown = useRef<{ list: string; newest: number }>(undefined);
  if (entries !== undefined && shown.current?.list !== list)
    shown.current = { list, newest: entries[0]?.operation ?? 0 };
  return useCallback((seq) => shown.current !== undefined && seq > shown.current.newest, []);
}

/** Reverts a change once the project's protected environments are known. */
function ProjectRevert({ project, seq, onClose }: { project: string; seq: number; onClose: () => void }) {
  const { data, isError } = useProject(project);
  // Without the environments the server refuses an unconfirmed revert, and the dialog shows why.
  if (data === undefined && !isError) return null;
  return <RevertDialog seq={seq} environments={data?.environments ?? []} onClose={onClose} />;
}
