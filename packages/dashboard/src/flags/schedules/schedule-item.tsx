import CircleAlert from 'lucide-react/icons/circle-alert';
import CircleCheck from 'lucide-react/icons/circle-check';
import CircleSlash from 'lucide-react/icons/circle-slash';
import Clock from 'lucide-react/icons/clock';
import { Link } from 'wouter';
import { useCancelSchedule } from '../../api/schedules.ts';
import { useCan } from '../../api/session.ts';
import type { ScheduledStep, ScheduleRecord, ScheduleStatus } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { toastFailure } from '../../components/actions.tsx';
import { Author, Badge, type BadgeLook } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { EnvironmentName } from '../../components/environment-name.tsx';
import { announce } from '../../components/live-region.tsx';
import { stateText, valuePreview } from '../../components/state-summary.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { dueText } from './due-text.ts';
import { messages } from './messages.ts';

/** One schedule: when, where, what, by whom, and how it ended. */
export function ScheduleItem({ project, schedule }: { project: string; schedule: ScheduleRecord }) {
  const { status, dueAt, changes, note, error } = schedule;
  const canCancel = useCan('editor') && status === 'pending';
  const confirm = useConfirm();
  const cancel = useCancelSchedule(project);

  async function askAndCancel(): Promise<void> {
    const question = messages.canceling(namesOf(schedule), schedule.environment, dueText(dueAt).local);
    if (!(await confirm({ ...question, isDangerous: true }))) return;
    cancel.mutate(schedule.id, {
      onSuccess: () => announce(messages.canceled),
      onError: (refused) => toastFailure(messages.cancelFailed, refused),
    });
  }

  return (
    <li className="flex items-start gap-3 border-t border-line px-3 py-3 first:border-t-0">
      <div className="min-w-0 flex-1">
        <Due schedule={schedule} />

        <ul className="mt-1.5 space-y-0.5">
          {changes.map((step) => (
            <li key={step.key} className="flex flex-wrap items-baseline gap-x-2">
              <Link
                href={links.flag(project, step.key)}
                className="inline-flex min-h-6 items-center font-mono text-xs wrap-anywhere text-accent hover:underline"
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
        <Origin schedule={schedule} />
      </div>

      {canCancel && (
        <Button kind="quiet" disabled={cancel.isPending} onClick={() => void askAndCancel()}>
          {messages.cancel}
          <span className="sr-only">{messages.cancelOf(namesOf(schedule))}</span>
        </Button>
      )}
    </li>
  );
}

/** Whether it has run, when, and where. */
function Due({ schedule: { status, dueAt, environment } }: { schedule: ScheduleRecord }) {
  return (
    <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
      <Badge {...STATUS_APPEARANCE[status]}>{messages.statuses[status]}</Badge>
      <time dateTime={dueAt} title={dueText(dueAt).utc} className="font-medium">
        {dueText(dueAt).local}
      </time>
      {status === 'pending' && (
        <span className="text-xs text-ink-3">
          (<TimeAgo at={dueAt} />)
        </span>
      )}
      <span className="flex min-w-0 items-center gap-x-2">
        <span className="text-ink-2">{messages.in}</span>
        <span className="min-w-0 wrap-anywhere">
          <EnvironmentName name={environment ?? messages.deletedEnvironment} />
        </span>
      </span>
    </p>
  );
}

/** Who scheduled it and when, and how it ended. */
function Origin({
  schedule: { status, createdBy, createdAt, settledAt, seq },
}: {
  schedule: ScheduleRecord;
}) {
  return (
    <p className="mt-1 text-xs text-ink-3">
      {messages.by}
      <Author actor={createdBy} />, <TimeAgo at={createdAt} />
      {settledAt !== undefined && (
        <>
          {' '}
          · {messages.statuses[status]} <TimeAgo at={settledAt} />
        </>
      )}
      {seq !== undefined && messages.change(seq)}
    </p>
  );
}

function namesOf({ changes }: ScheduleRecord): string {
  const [first] = changes;
  return changes.length === 1 && first !== undefined ? first.key : messages.flags(changes.length);
}

const STATUS_APPEARANCE: Readonly<Record<ScheduleStatus, BadgeLook>> = {
  pending: { kind: 'accent', icon: Clock },
  done: { kind: 'good', icon: CircleCheck },
  failed: { kind: 'danger', icon: CircleAlert },
  cancelled: { kind: 'plain', icon: CircleSlash },
};

/** A step in words: "turns on, 25 %". */
export function stepText(step: ScheduledStep): string {
  if ('state' in step)
    return step.state === null ? messages.isRemoved : messages.becomes(stateText(step.state));
  const { enabled, rolloutPct, value, unset = [] } = step.patch;
  return [
    ...(enabled === undefined ? [] : [enabled ? messages.turnsOn : messages.turnsOff]),
    ...(rolloutPct === undefined ? [] : [messages.rolloutTo(rolloutPct)]),
    ...(value !== undefined ? [messages.newValue(valuePreview(value))] : []),
    ...unset.map((name) => (name === 'value' ? messages.valueRemoved : messages.toEveryone)),
  ].join(', ');
}
