import { useRollouts } from '../../api/rollouts.ts';
import type { RolloutPlanRecord } from '../../api/types.ts';
import { EnvironmentName } from '../../components/environment-name.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { dueText } from '../schedules/due-text.ts';
import { messages } from './messages.ts';
import { PlanMark } from './plan-mark.tsx';

/** The plans of a flag that have a next step with a time. */
export function useRunningPlans(project: string, flag: string): readonly RolloutPlanRecord[] {
  const { data = [] } = useRollouts(project, { flag });
  return data.filter(({ status }) => status === 'running');
}

/** The next step of a running plan, as an item among the scheduled changes. */
export function RunningPlan({ plan }: { plan: RolloutPlanRecord }) {
  const { dueAt, steps, environment } = plan;
  const next = steps.find(({ status }) => status === 'next');
  if (dueAt === undefined || next === undefined) return null;

  return (
    <li className="border-t border-line px-3 py-3 first:border-t-0">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <PlanMark plan={plan} />
        <time dateTime={dueAt} title={dueText(dueAt).utc} className="font-medium">
          {dueText(dueAt).local}
        </time>
        <TimeAgo at={dueAt} className="text-xs text-ink-3" />
        <span className="flex min-w-0 items-center gap-x-2">
          <span className="text-ink-2">{messages.in}</span>
          <EnvironmentName name={environment} />
        </span>
      </p>
      <p className="mt-1.5 text-ink-2">{messages.nextStep(next.rolloutPct)}</p>
    </li>
  );
}
