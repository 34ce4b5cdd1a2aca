import CalendarClock from 'lucide-react/icons/calendar-clock';
import Plus from 'lucide-react/icons/plus';
import { useCallback, useMemo } from 'react';
import { useParams } from 'wouter';
import { type ScheduleRecord, type ScheduleStatus, useSchedules } from '../../api/schedules.ts';
import { useCan } from '../../api/session.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { Page } from '../../components/page.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { useShortcut } from '../../components/use-shortcut.ts';
import { useCommands } from '../../shell/commands.tsx';
import { CreateScheduleDialog } from './create-schedule-dialog.tsx';
import { ScheduleItem } from './schedule-item.tsx';

/** The screen "Schedules": changes that are made by themselves at their time. */
export function SchedulesPage() {
  const { project = '' } = useParams<{ project: string }>();
  const [params, setParams] = useSearchState();
  const canSchedule = useCan('editor');
  const isCreating = params.has('new') && canSchedule;
  const create = useCallback(() => setParams({ new: 'schedule' }), [setParams]);
  useShortcut('n', create);
  useCommands(
    useMemo(
      () =>
        canSchedule
          ? [{ id: 'schedule.new', title: 'New schedule', group: 'Create', shortcut: 'n', run: create }]
          : [],
      [canSchedule, create],
    ),
  );
  return (
    <Page
      title={`Schedules · ${project}`}
      heading="Schedules"
      intro="Changes that are made by themselves at their time, once, also when a server is restarted meanwhile."
      actions={
        canSchedule && (
          <Button kind="primary" onClick={create}>
            <Plus size={15} aria-hidden /> New schedule
          </Button>
        )
      }
    >
      <Schedules project={project} onCreate={canSchedule ? create : undefined} />
      {isCreating && <CreateScheduleDialog project={project} onClose={() => setParams({ new: '' })} />}
    </Page>
  );
}

function Schedules({ project, onCreate }: { project: string; onCreate: (() => void) | undefined }) {
  const { data, error, refetch } = useSchedules(project);
  const [params] = useSearchState();
  const status = params.get('status') ?? '';
  const shown = useMemo(() => {
    const listed = (data ?? []).filter((schedule) => status === '' || schedule.status === status);
    return listed.toSorted(byTime);
  }, [data, status]);
  if (error && data === undefined) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <SkeletonRows rows={4} />;
  if (data.length === 0)
    return (
      <EmptyState
        icon={<CalendarClock size={20} aria-hidden />}
        title="Nothing is scheduled"
        action={onCreate && <Button onClick={onCreate}>Schedule a change</Button>}
      >
        Turn a flag on at the minute of the announcement, or off again after the weekend, without being there.
        A schedule makes one change in one environment and stands in the history like any other.
      </EmptyState>
    );
  return (
    <>
      <StatusTabs schedules={data} />
      {shown.length === 0 ? (
        <p className="rounded-lg border border-line bg-surface px-4 py-10 text-center text-ink-2">
          No schedule is {status}.
        </p>
      ) : (
        <ul className="overflow-hidden rounded-lg border border-line bg-surface" aria-label="Schedules">
          {shown.map((schedule) => (
            <ScheduleItem key={schedule.id} project={project} schedule={schedule} />
          ))}
        </ul>
      )}
    </>
  );
}

/** What waits comes first, the next one on top; then what is over, the last one on top. */
function byTime(one: Timed, other: Timed): number {
  const [first, second] = [one, other].map(({ status }) => (status === 'pending' ? 0 : 1));
  if (first !== second) return (first ?? 0) - (second ?? 0);
  const distance = Date.parse(one.dueAt) - Date.parse(other.dueAt);
  return one.status === 'pending' ? distance : -distance;
}

interface Timed {
  readonly status: ScheduleStatus;
  readonly dueAt: string;
}

const CHOICES = ['', 'pending', 'done', 'failed', 'cancelled'] as const;

/** Which schedules are listed; kept in the address. */
function StatusTabs({ schedules }: { schedules: readonly ScheduleRecord[] }) {
  const [params, setParams] = useSearchState();
  const chosen = params.get('status') ?? '';
  return (
    <fieldset className="mb-3 flex flex-wrap gap-1">
      <legend className="sr-only">Which schedules</legend>
      {CHOICES.map((status) => {
        const count = schedules.filter((each) => status === '' || each.status === status).length;
        return (
          <button
            key={status}
            type="button"
            aria-pressed={status === chosen}
            className={classNames(
              'h-7 rounded-md px-2.5',
              status === chosen
                ? 'bg-accent-soft font-medium text-accent'
                : 'text-ink-2 hover:bg-hover hover:text-ink',
            )}
            onClick={() => setParams({ status })}
          >
            {status === '' ? 'all' : status} <span className="text-xs">{count}</span>
          </button>
        );
      })}
    </fieldset>
  );
}
