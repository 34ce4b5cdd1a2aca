import TrendingUp from 'lucide-react/icons/trending-up';
import type { RolloutPlanRecord } from '../../api/types.ts';
import { dueText } from '../schedules/due-text.ts';
import { messages } from './messages.ts';

/** Says that a rollout plan is open, and what it does next. */
export function PlanMark({ plan: { steps, status, dueAt } }: { plan: RolloutPlanRecord }) {
  const shares = steps.map(({ rolloutPct }) => rolloutPct).join(', ');
  const label = messages.mark(`${shares} %`, dueAt === undefined ? undefined : dueText(dueAt).local);
  return (
    <span
      title={label}
      data-plan={status}
      className={status === 'paused' ? 'shrink-0 text-warn' : 'shrink-0 text-accent'}
    >
      <TrendingUp size={14} role="img" aria-label={label} />
    </span>
  );
}
