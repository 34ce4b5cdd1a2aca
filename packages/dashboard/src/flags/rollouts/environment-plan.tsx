import TrendingUp from 'lucide-react/icons/trending-up';
import { useId, useState } from 'react';
import { isOpenPlan, useRollouts } from '../../api/rollouts.ts';
import { Button } from '../../components/button.tsx';
import { DialogPart } from '../../components/dialog-part.tsx';
import { lazyPart } from '../../components/lazy-part.ts';
import type { EnvironmentPanelProps } from '../panel-props.ts';
import { messages } from './messages.ts';
import { PlanView } from './plan-view.tsx';

const StartDialog = lazyPart(() => import('./start-dialog.tsx'), 'StartDialog');

/** How long an ended plan stays on the flag's page, in milliseconds. */
const RECENT_MS = 7 * 86_400_000;

/** The rollout plan of a flag in one environment, or the button that starts one. */
export function EnvironmentPlan({ project, flag, environment, record, obstacle }: EnvironmentPanelProps) {
  const id = useId();
  const [isStarting, setStarting] = useState(false);
  const { data } = useRollouts(project.name, { flag: flag.key });
  if (data === undefined) return null;
  const here = data.filter((plan) => plan.environment === environment.name);
  const last = here.find(isOpenPlan) ?? here[0];
  const shown =
    last !== undefined && (isOpenPlan(last) || Date.now() - Date.parse(last.statusAt) < RECENT_MS)
      ? last
      : undefined;
  const canStart = obstacle === undefined && (last === undefined || !isOpenPlan(last));
  if (shown === undefined && !canStart) return null;

  return (
    <section aria-labelledby={shown && id} className="border-t border-line px-4 py-3">
      {shown !== undefined && (
        <>
          <h4 id={id} className="mb-2 font-medium">
            {messages.title}
          </h4>
          <PlanView project={project.name} environment={environment} plan={shown} state={record?.state} />
        </>
      )}
      {canStart && (
        <Button className={shown === undefined ? undefined : 'mt-3'} onClick={() => setStarting(true)}>
          <TrendingUp size={14} aria-hidden />
          {messages.start}
        </Button>
      )}
      {isStarting && (
        <DialogPart title={messages.dialog(flag.key)} onClose={() => setStarting(false)}>
          <StartDialog
            project={project.name}
            environment={environment}
            flagKey={flag.key}
            state={record?.state}
            onClose={() => setStarting(false)}
          />
        </DialogPart>
      )}
    </section>
  );
}
