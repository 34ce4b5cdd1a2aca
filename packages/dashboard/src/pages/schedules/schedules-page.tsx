import CalendarClock from 'lucide-react/icons/calendar-clock';
import { useMemo } from 'react';
import { useParams } from 'wouter';
import { useRollouts } from '../../api/rollouts.ts';
import { useSchedules } from '../../api/schedules.ts';
import { useCan } from '../../api/session.ts';
import type { ScheduleRecord, ScheduleStatus } from '../../api/types.ts';
import { useCreating, useSearchState } from '../../browser/use-search-state.ts';
import { Button, CreateButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { useCreateCommand } from '../../components/commands.tsx';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { OpenRollouts } from '../../flags/rollouts/open-rollouts.tsx';
import { messages } from '../../flags/schedules/messages.ts';
import { ScheduleItem } from '../../flags/schedules/schedule-item.tsx';
import { CreateScheduleDialog } from './create-schedule-dialog.tsx';

/** The screen "Schedules": changes that run at a set time. */
export function SchedulesPage() {
  const { project = '' } = useParams<{ project: string }>();
  const canSchedule = useCan('editor');
  const { isCreating, start: create, stop } = useCreating();
  useCreateCommand({ id: 'schedule.new', title: messages.create, isAllowed: canSchedule, run: create });
  return (
    <Page
      title={`${messages.title} · ${project}`}
      heading={messages.title}
      intro={messages.intro}
      actions={canSchedule && <CreateButton onClick={create}>{messages.create}</CreateButton>}
    >
      <OpenRollouts project={project} />
      <Schedules project={project} onCreate={canSchedule ? create : undefined} />
      {isCreating && canSchedule && <CreateScheduleDialog project={project} onClose={stop} />}
    </Page>
  );
}

function Schedules({ project, onCreate }: { project: string; onCreate: (() => void) | undefined }) {
  const { data, error, refetch } = useSchedules(project);
  const [params] = useSearchState();
  const status = params.get('status') ?? '';
  const [only] = useEnvironmentFilter(project);
  const plans = useRollouts(project, { status: 'open' }).data;
  const hasPlan = plans?.some((plan) => only === undefined || plan.environment === only.name);
  const shown = useMemo(() => {
    const listed = (data ?? []).filter(
      (schedule) =>
        (status === '' || schedule.status === status) &&
        (only === undefined || schedule.environment === only.name),
    );
    return listed.toSorted(byTime);
  }, [data, status, only]);
  if (error && data === undefined) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <SkeletonRows rows={4} />;
  if (data.length === 0)
    return (
      <EmptyState
        icon={<CalendarClock size={20} aria-hidden />}
        title={hasPlan ? messages.emptyBesidePlans : messages.emptyTitle}
        action={onCreate && <Button onClick={onCreate}>{messages.scheduleChange}</Button>}
      >
        {messages.empty}
      </EmptyState>
    );

  return (
    <>
      <StatusTabs schedules={data} />
      {shown.length === 0 ? (
        <p className="rounded-lg border border-line bg-surface px-4 py-10 text-center text-ink-2">
          {messages.noneWithStatus(statusText(status))}
        </p>
      ) : (
        <ul className="overflow-hidden rounded-lg border border-line bg-surface" aria-label={messages.list}>
          {shown.map((schedule) => (
            <ScheduleItem key={schedule.id} project={project} schedule={schedule} />
          ))}
        </ul>
      )}
    </>
  );
}

/** Pending schedules first, the next on top; then the others, the latest on top. */
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
  const selected = params.get('status') ?? '';

  return (
    <fieldset className="mb-3 flex flex-wrap gap-1">
      <legend className="sr-only">{messages.filter}</legend>
      {CHOICES.map((status) => {
        const count = schedules.filter((each) => status === '' || each.status === status).length;
        return (
          <button
            key={status}
            type="button"
            aria-pressed={status === selected}
            className={classNames(
              'h-7 rounded-md px-2.5 first-letter:uppercase',
              status === selected
                ? 'bg-accent-soft font-medium text-accent'
                : 'text-ink-2 hover:bg-hover hover:text-ink',
            )}
            onClick={() => setParams({ status })}
          >
            {status === '' ? messages.all : statusText(status)} <span className="text-xs">{count}</span>
          </button>
        );
      })}
    </fieldset>
  );
}

/** A status from the address may be any text. */
function statusText(status: string): string {
  return status in messages.statuses ? messages.statuses[status as ScheduleStatus] : status;
}
