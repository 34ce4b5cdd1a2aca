import { nextPlanStep, noStepLeft, planSteps, reachOf } from '@halyard/protocol';
import CircleCheck from 'lucide-react/icons/circle-check';
import CirclePause from 'lucide-react/icons/circle-pause';
import CircleStop from 'lucide-react/icons/circle-stop';
import TrendingUp from 'lucide-react/icons/trending-up';
import { useState } from 'react';
import type { Wanted } from '../../api/approvals.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { commandRollout, type RolloutCommand } from '../../api/rollout-commands.ts';
import { isOpenPlan } from '../../api/rollouts.ts';
import { useMayChangeProtected } from '../../api/session.ts';
import type { EnvironmentRecord, FlagState, RolloutPlanRecord, RolloutPlanStatus } from '../../api/types.ts';
import { useChangeGuards, useReadOnlyReason } from '../../changes/change-guards.tsx';
import { useAction } from '../../components/actions.tsx';
import { Author, Badge, type BadgeLook } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { dueText } from '../schedules/due-text.ts';
import { messages } from './messages.ts';
import { timedSteps } from './plan-fields.ts';
import { PlanSteps } from './plan-steps.tsx';
import { Timeline } from './timeline.tsx';

/** A plan: its status, its timeline, why it waits, and what a person can do with it. */
export function PlanView({
  project,
  environment,
  plan,
  state,
}: {
  project: string;
  /** `undefined` once it is deleted. */
  environment: EnvironmentRecord | undefined;
  plan: RolloutPlanRecord;
  /** The state in effect, for the question before a change. */
  state: FlagState | undefined;
}) {
  const { status, statusAt, dueAt, note, createdBy, createdAt } = plan;
  const next = nextPlanStep(plan.steps, reachOf(state));
  const readOnlyReason = useReadOnlyReason();
  const canChange = environment !== undefined && readOnlyReason(environment) === undefined;

  return (
    <>
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 pb-2">
        <Badge {...APPEARANCE[status]}>{messages.statuses[status]}</Badge>
        {status === 'running' && next !== undefined && dueAt !== undefined && (
          <span className="text-ink-2">
            {messages.nextIs(next.rolloutPct)}, <TimeAgo at={dueAt} /> ({dueText(dueAt).local})
          </span>
        )}
        {(status === 'paused' || status === 'stopped') && (
          <span className="min-w-0 wrap-anywhere text-ink-2">
            <Ended plan={plan} />
          </span>
        )}
        {status === 'done' && <TimeAgo at={statusAt} className="text-xs text-ink-3" />}
      </p>
      <Timeline
        plan={{ ...plan, steps: isOpenPlan(plan) ? planSteps(plan.steps, reachOf(state)) : plan.steps }}
      />
      <p className="mt-2 text-xs wrap-anywhere text-ink-3">
        {messages.startedBy} <Author actor={createdBy} />, <TimeAgo at={createdAt} />
        {note !== undefined && <> · “{note}”</>}
        {status === 'paused' && next?.waitMinutes !== undefined && <> · {messages.resumeHint}</>}
      </p>
      {isOpenPlan(plan) && next === undefined && (
        <p className="mt-2 text-ink-2">{noStepLeft(reachOf(state))}</p>
      )}
      {canChange && isOpenPlan(plan) && (
        <Commands project={project} environment={environment} plan={plan} state={state} />
      )}
    </>
  );
}

/** Who paused or stopped a plan, and why. */
function Ended({ plan: { status, statusBy, statusAt, reason } }: { plan: RolloutPlanRecord }) {
  return (
    <>
      {statusBy === 'system' ? (
        messages.pausedItself
      ) : (
        <>
          {status === 'paused' ? messages.paused : messages.stopped} <Author actor={statusBy} />
        </>
      )}{' '}
      <TimeAgo at={statusAt} />
      {reason !== undefined && <>: {reason}</>}
    </>
  );
}

/** How long after a command a press still belongs to the one before, as in a double click, in milliseconds. */
const SECOND_PRESS_MS = 700;

/** The buttons of an open plan. */
function Commands({
  project,
  environment,
  plan,
  state,
}: {
  project: string;
  environment: EnvironmentRecord;
  plan: RolloutPlanRecord;
  state: FlagState | undefined;
}) {
  const { askConsent } = useChangeGuards();
  const confirm = useConfirm();
  const perform = useAction();
  const [busy, setBusy] = useState(false);
  // Only these need no approval, so they cannot be proposed either.
  const mayEnd = useMayChangeProtected() || !environment.protected;
  const next = nextPlanStep(plan.steps, reachOf(state));

  async function run(command: RolloutCommand): Promise<void> {
    if (busy) return;
    setBusy(true);
    const consent = await ask(command);
    if (consent !== undefined) {
      const confirmed = environment.protected ? environment.name : undefined;
      await perform({
        run: () => commandRollout(project, plan.id, { command, confirmed, ...consent }),
        done: messages.commandDone[command],
        failed: messages.commandFailed[command],
        stale: [queryKeys.rollouts(project)],
      });
      // The button leads to the next step by now.
      await new Promise((resolve) => setTimeout(resolve, SECOND_PRESS_MS));
    }
    setBusy(false);
  }

  /** Asks what the command needs; `undefined` if the person decides against it. */
  async function ask(command: RolloutCommand): Promise<Partial<Wanted> | undefined> {
    if (command === 'pause' || next === undefined) return {};
    if (command !== 'stop') {
      const after = stateAt(state, next.rolloutPct);
      const first = command === 'advance' ? { rolloutPct: next.rolloutPct } : next;
      const later = plan.steps.slice(plan.steps.indexOf(next) + 1);
      return askConsent({
        project,
        environment,
        steps: [{ key: plan.flag, before: state, after }],
        list: <PlanSteps flag={plan.flag} state={state} steps={timedSteps([first, ...later], Date.now())} />,
      });
    }
    const isSure = await confirm({ ...messages.stopping(plan.flag, environment.name), isDangerous: true });
    return isSure ? {} : undefined;
  }

  return (
    <div className="mt-3 flex flex-wrap gap-2">
      {plan.status === 'running' && mayEnd && (
        <Button disabled={busy} onClick={() => void run('pause')}>
          {messages.pause}
        </Button>
      )}
      {plan.status === 'paused' && next !== undefined && (
        <Button disabled={busy} onClick={() => void run('resume')}>
          {messages.resume}
        </Button>
      )}
      {next !== undefined && (
        <Button disabled={busy} onClick={() => void run('advance')}>
          {messages.advance(next.rolloutPct)}
        </Button>
      )}
      {mayEnd && (
        <Button kind="quiet" disabled={busy} onClick={() => void run('stop')}>
          {messages.stop}
        </Button>
      )}
    </div>
  );
}

/** The state after a step to this percentage. */
export function stateAt(state: FlagState | undefined, percent: number): FlagState {
  const { rolloutPct, ...kept } = state ?? {};
  return { ...kept, enabled: true, ...(percent === 100 ? {} : { rolloutPct: percent }) };
}

const APPEARANCE: Readonly<Record<RolloutPlanStatus, BadgeLook>> = {
  running: { kind: 'accent', icon: TrendingUp },
  paused: { kind: 'warn', icon: CirclePause },
  done: { kind: 'good', icon: CircleCheck },
  stopped: { kind: 'plain', icon: CircleStop },
};
