import CalendarClock from 'lucide-react/icons/calendar-clock';
import { useId } from 'react';
import { useParams } from 'wouter';
import { useFlags } from '../../api/flags.ts';
import { useWaitingProposals } from '../../api/proposals.ts';
import { useRollouts } from '../../api/rollouts.ts';
import { useSchedules } from '../../api/schedules.ts';
import { useCan } from '../../api/session.ts';
import type { FlagRecord, ScheduleRecord, ScheduleStatus } from '../../api/types.ts';
import { useCreating, useSearchState } from '../../browser/use-search-state.ts';
import { Button, CreateButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { useCreateCommand } from '../../components/commands.tsx';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { Page } from '../../components/page.tsx';
import { bothOf, EmptyState, Loaded } from '../../components/screen-states.tsx';
import { useTimeRefresh } from '../../components/time-ago.tsx';
import { messages } from '../../flags/schedules/messages.ts';
import { ScheduleItem } from '../../flags/schedules/schedule-item.tsx';
import { CreateScheduleDialog } from './create-schedule-dialog.tsx';
import { messages as timelineMessages } from './messages.ts';
import { Timeline } from './timeline.tsx';
import { timelineItems } from './timeline-items.ts';

const NO_FLAGS: readonly FlagRecord[] = [];

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
      <Planned project={project} onCreate={canSchedule ? create : undefined} />
      {isCreating && canSchedule && <CreateScheduleDialog project={project} onClose={stop} />}
    </Page>
  );
}

/** What lies ahead, and what became of earlier schedules. */
function Planned({ project, onCreate }: { project: string; onCreate: (() => void) | undefined }) {
  const reading = bothOf(useSchedules(project), useRollouts(project, { status: 'open' }));
  const proposals = useWaitingProposals(project);
  const { data: flags = NO_FLAGS } = useFlags(project);
  const [only] = useEnvironmentFilter(project);
  const isShown = ({ environment }: { readonly environment?: string | undefined }) =>
    only === undefined || environment === only.name;
  // While the screen is open, the axis moves, and items become overdue.
  useTimeRefresh();

  return (
    <Loaded reading={reading} rows={4}>
      {([schedules, plans]) => {
        const now = Date.now();
        const stateOf = (key: string, environment: string) =>
          flags.find((flag) => flag.key === key)?.environments[environment]?.state;
        const items = timelineItems({ schedules, plans, proposals, stateOf, now });
        const past = schedules.filter(({ status }) => status !== 'pending');

        return (
          <>
            {items.length === 0 ? (
              <EmptyState
                icon={CalendarClock}
                title={messages.emptyTitle}
                action={onCreate && <Button onClick={onCreate}>{messages.scheduleChange}</Button>}
              >
                {messages.empty}
              </EmptyState>
            ) : (
              <Timeline project={project} items={items.filter(isShown)} now={now} />
            )}
            {past.length > 0 && <Past project={project} schedules={past.filter(isShown)} />}
          </>
        );
      }}
    </Loaded>
  );
}

/** The schedules that have ended, the latest first. */
function Past({ project, schedules }: { project: string; schedules: readonly ScheduleRecord[] }) {
  const id = useId();
  const [params] = useSearchState();
  const status = params.get('status') ?? '';
  const shown = schedules
    .filter((schedule) => status === '' || schedule.status === status)
    .toSorted((one, other) => Date.parse(other.dueAt) - Date.parse(one.dueAt));

  return (
    <section aria-labelledby={id} className="mt-6">
      <h2 id={id} className="mb-2 text-base font-semibold">
        {timelineMessages.past}
      </h2>
      <StatusTabs schedules={schedules} />
      {shown.length === 0 ? (
        <p className="rounded-lg border border-line bg-surface px-4 py-10 text-center text-ink-2">
          {messages.noneWithStatus(statusText(status))}
        </p>
      ) : (
        <ul className="overflow-hidden rounded-lg border border-line bg-surface" aria-labelledby={id}>
          {shown.map((schedule) => (
            <ScheduleItem key={schedule.id} project={project} schedule={schedule} />
          ))}
        </ul>
      )}
    </section>
  );
}

const CHOICES = ['', 'done', 'failed', 'cancelled'] as const;

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
