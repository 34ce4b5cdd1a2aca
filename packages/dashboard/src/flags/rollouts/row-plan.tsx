import { isOpenPlan, useRollouts } from '../../api/rollouts.ts';
import { PlanMark } from './plan-mark.tsx';

/** Says in an environment's row that the flag has an open rollout plan there. */
export function RowPlan({
  project,
  flagKey,
  environment,
}: {
  project: string;
  flagKey: string;
  /** Its name. */
  environment: string;
}) {
  const { data } = useRollouts(project, { flag: flagKey });
  const plan = data?.find((each) => each.environment === environment && isOpenPlan(each));
  return plan === undefined ? null : <PlanMark plan={plan} />;
}
