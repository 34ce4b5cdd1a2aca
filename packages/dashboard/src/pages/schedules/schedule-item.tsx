import { Link } from 'wouter';
import { useEnvironments } from '../../api/projects.ts';
import { type ScheduleRecord, useCancelSchedule } from '../../api/schedules.ts';
import { useCan } from '../../api/session.ts';
import { toastFailure } from '../../changes/toast-failure.tsx';
import { Author } from '../../components/author.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { announce } from '../../components/live-region.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { links } from '../../shell/links.ts';
import { dueText } from './due-text.ts';
import { StatusBadge } from './status-badge.tsx';
import { stepText } from './step-text.ts';

/** One schedule: when, where, what, by whom, and how it ended. */
export function ScheduleItem({ project, schedule }: { project: string; schedule: ScheduleRecord }) {
  const { status, dueAt, changes, note, createdBy, createdAt, settledAt, seq, error } = schedule;
  const environment = useEnvironments(project).find(({ name }) => name === schedule.environment);
  const canCancel = useCan('editor') && status === 'pending';
  const confirm = useConfirm();
  const cancel = useCancelSchedule(project);

  async function askAndCancel(): Promise<void> {
    const body = `${namesOf(schedule)} in ${schedule.environment} will not change at ${dueText(dueAt).local}.`;
    const isSure = await confirm({
      title: 'Cancel this schedule?',
      body,
      action: 'Cancel the schedule',
      isDangerous: true,
    });
    if (!isSure) return;
    cancel.mutate(schedule.id, {
      onSuccess: () => announce('The schedule is cancelled'),
      onError: (refused) => toastFailure('The schedule was not canceled', refused),
    });
  }

  return (
    <li className="flex items-start gap-3 border-t border-line px-3 py-3 first:border-t-0">
      <div className="min-w-0 flex-1">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <StatusBadge status={status} />
          <time dateTime={dueAt} title={dueText(dueAt).utc} className="font-medium">
            {dueText(dueAt).local}
          </time>
          {status === 'pending' && <TimeAgo at={dueAt} className="text-xs text-ink-3" />}
          <span className="text-ink-2">in</span>
          {environment === undefined ? (
            (schedule.environment ?? 'a deleted environment')
          ) : (
            <EnvironmentBadge environment={environment} />
          )}
        </p>
        <ul className="mt-1.5 space-y-0.5">
          {changes.map((step) => (
            <li key={step.key} className="flex flex-wrap items-baseline gap-x-2">
              <Link
                href={links.flag(project, step.key)}
                className="font-mono text-xs break-all text-accent hover:underline"
              >
                {step.key}
              </Link>
              <span className="break-words text-ink-2">{stepText(step)}</span>
            </li>
          ))}
        </ul>
        {note !== undefined && <p className="mt-1 break-words text-ink-2">“{note}”</p>}
        {error !== undefined && (
          <p className="mt-1.5 rounded-md bg-danger-soft px-2.5 py-1.5 break-words text-danger">{error}</p>
        )}
        <p className="mt-1 text-xs text-ink-3">
          By <Author actor={createdBy} />, <TimeAgo at={createdAt} />
          {settledAt !== undefined && (
            <>
              {' '}
              · {status} <TimeAgo at={settledAt} />
            </>
          )}
          {seq !== undefined && <> · change {seq}</>}
        </p>
      </div>
      {canCancel && (
        <Button kind="quiet" disabled={cancel.isPending} onClick={() => void askAndCancel()}>
          Cancel<span className="sr-only"> the change of {namesOf(schedule)}</span>
        </Button>
      )}
    </li>
  );
}

function namesOf({ changes }: ScheduleRecord): string {
  const [first] = changes;
  return changes.length === 1 && first !== undefined ? first.key : `${changes.length} flags`;
}
