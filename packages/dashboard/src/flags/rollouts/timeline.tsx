import Check from 'lucide-react/icons/check';
import type { RolloutPlanRecord, RolloutStepRecord } from '../../api/types.ts';
import { classNames } from '../../components/class-names.ts';
import { TimeAgo } from '../../components/time-ago.tsx';
import { messages } from './messages.ts';

/** The steps of a plan from left to right: what ran, what comes next and when. */
export function Timeline({ plan }: { plan: RolloutPlanRecord }) {
  return (
    <ol
      aria-label={messages.steps}
      className="grid grid-cols-[repeat(auto-fill,minmax(5.75rem,1fr))] gap-y-3 pt-1"
    >
      {plan.steps.map((step) => (
        <Step key={step.rolloutPct} step={step} isPaused={plan.status === 'paused'} />
      ))}
    </ol>
  );
}

const DOTS: Readonly<Record<RolloutStepRecord['status'], string>> = {
  done: 'border-accent bg-accent text-accent-ink',
  next: 'border-accent bg-surface',
  waiting: 'border-line-strong bg-surface',
  skipped: 'border-line bg-hover',
};

function Step({ step, isPaused }: { step: RolloutStepRecord; isPaused: boolean }) {
  const { rolloutPct, status, ranAt, expectedAt } = step;
  const at = ranAt ?? expectedAt;
  const isOver = status === 'skipped';

  return (
    <li
      data-step={status}
      aria-current={status === 'next' ? 'step' : undefined}
      className="group relative min-w-0 pr-2"
    >
      {/* To the next dot. */}
      <span
        aria-hidden
        className={classNames(
          'absolute top-2 right-0 left-0 h-0.5 group-last:hidden forced-color-adjust-none',
          status === 'done' ? 'bg-accent' : 'bg-line',
        )}
      />
      <span
        aria-hidden
        className={classNames(
          'relative flex size-4.5 items-center justify-center rounded-full border-2',
          DOTS[status],
          status === 'next' && (isPaused ? 'border-warn' : 'animate-pulse motion-reduce:animate-none'),
        )}
      >
        {status === 'done' && <Check size={11} strokeWidth={3} />}
      </span>
      <p className={classNames('mt-1 font-medium tabular-nums', isOver && 'text-ink-3 line-through')}>
        {messages.share(rolloutPct)}
      </p>
      <p className="text-xs text-ink-3">
        {at === undefined ? (
          messages.stepStatuses[status]
        ) : (
          <>
            <span className="sr-only">{messages.stepStatuses[status]} </span>
            <TimeAgo at={at} />
          </>
        )}
      </p>
    </li>
  );
}
