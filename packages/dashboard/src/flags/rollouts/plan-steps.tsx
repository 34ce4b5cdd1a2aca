import type { FlagState } from '../../api/types.ts';
import { stateText } from '../../components/state-summary.tsx';
import { ScrollRegion } from '../../components/tables.tsx';
import { dueText } from '../schedules/due-text.ts';
import { messages } from './messages.ts';
import type { TimedStep } from './plan-fields.ts';

/** What a flag is now, and the steps that a plan is about to run, for the question before it does. */
export function PlanSteps({
  flag,
  state,
  steps,
}: {
  flag: string;
  state: FlagState | undefined;
  steps: readonly TimedStep[];
}) {
  return (
    <ScrollRegion
      label={messages.stepsOf(flag)}
      className="mt-3 max-h-72 overflow-y-auto rounded-md border border-line"
    >
      <p className="flex flex-wrap justify-between gap-x-3 px-3 py-2">
        <span className="font-mono text-xs leading-5 wrap-anywhere">{flag}</span>
        <span className="wrap-anywhere text-ink-2">{messages.isNow(stateText(state))}</span>
      </p>
      <ol>
        {steps.map(({ rolloutPct, dueAt }) => (
          <li
            key={rolloutPct}
            className="flex flex-wrap justify-between gap-x-3 border-t border-line px-3 py-1.5"
          >
            <strong className="font-semibold">{messages.reaches(rolloutPct)}</strong>
            <span className="text-ink-2">
              {dueAt === undefined ? messages.now : dueText(new Date(dueAt).toISOString()).local}
            </span>
          </li>
        ))}
      </ol>
    </ScrollRegion>
  );
}
