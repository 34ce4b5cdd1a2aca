import { type ReactNode, useEffect } from 'react';
import { useRollouts } from '../../api/rollouts.ts';
import { PlanMark } from './plan-mark.tsx';

/** Reads the open rollout plans, and hands over their marks as `PlanMarks` of the flag table has them. */
export function ReadPlanMarks({
  project,
  onRead,
}: {
  project: string;
  onRead: (marks: ReadonlyMap<string, ReactNode>) => void;
}) {
  const { data } = useRollouts(project, { status: 'open' });
  useEffect(() => {
    if (data === undefined) return;
    onRead(
      new Map(
        data.map((plan) => [`${plan.flag}/${plan.environment}`, <PlanMark key={plan.id} plan={plan} />]),
      ),
    );
  }, [data, onRead]);
  return null;
}
