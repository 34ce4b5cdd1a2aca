import type { RolloutPlanStep } from '@halyard/protocol';
import { useState } from 'react';
import { Link } from 'wouter';
import { useFlag } from '../../api/flags.ts';
import type { NewSchedule } from '../../api/schedules.ts';
import type { FlagState, Json, ProposalRecord, StateRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { targetText } from '../../components/audit/action-text.ts';
import { FieldDiff } from '../../components/audit/field-diff.tsx';
import { StateDiff } from '../../components/audit/state-diff.tsx';
import { Author } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { EnvironmentName } from '../../components/environment-name.tsx';
import { differingFields } from '../../components/state-summary.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { isWaiting } from '../../flags/proposals/part-of.ts';
import type { Effect } from '../../flags/proposals/proposal-words.ts';
import { dueText } from '../../flags/schedules/due-text.ts';
import { stepText } from '../../flags/schedules/schedule-item.tsx';
import { actionWords, messages } from './messages.ts';

/** How many changes are shown at first. */
const FEW = 20;

/** Lists what a proposal changes. Where a state has changed since, it also shows the current one. */
export function ProposalEffects({ proposal }: { proposal: ProposalRecord }) {
  const [most, setMost] = useState(FEW);
  const { project, status } = proposal;
  // The step that a plan begins with is a change of the flag, which says more.
  const effects = proposal.effects.filter(({ action }) => action !== 'rollout.advanced');
  const isMade = status === 'applied' || status === 'emergency' || status === 'acknowledged';

  return (
    <>
      <ul className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
        {effects.slice(0, most).map((effect, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a proposal never changes
          <li key={index} className="px-4 py-3">
            <EffectHeading
              project={project}
              effect={effect}
              isThere={isMade || !creates(proposal, effect.target)}
            />
            {effect.action !== 'flag.changed' ? (
              <OtherEffect effect={effect} />
            ) : isMade ? (
              <StateDiff {...statesOf(effect)} />
            ) : (
              <ProposedState proposal={proposal} effect={effect} />
            )}
          </li>
        ))}
      </ul>
      {effects.length > most && (
        <Button className="mt-2" onClick={() => setMost(effects.length)}>
          {messages.showMore(effects.length - most)}
        </Button>
      )}
    </>
  );
}

function EffectHeading({
  project,
  effect,
  isThere,
}: {
  project: string;
  effect: Effect;
  /** Whether there is something to link to. */
  isThere: boolean;
}) {
  const { action, target, environment } = effect;
  const isFlag = /^(flag|rollout)\./.test(action);
  return (
    <h3 className="mb-1.5 flex flex-wrap items-center gap-x-1.5 gap-y-0.5">
      {action !== 'flag.changed' && (
        <span className="text-ink-2 first-letter:uppercase">{actionWords(action)}</span>
      )}
      {isFlag && isThere ? (
        <Link
          href={links.flag(project, target)}
          className="inline-flex min-h-6 items-center font-mono text-xs wrap-anywhere text-accent hover:underline"
        >
          {target}
        </Link>
      ) : (
        <span className="font-mono text-xs wrap-anywhere">{targetText(effect)}</span>
      )}
      {environment !== undefined && environment !== target && (
        <>
          <span className="text-ink-3">{messages.in}</span>
          <EnvironmentName name={environment} />
        </>
      )}
    </h3>
  );
}

/** An effect that does not change a state: a plan or a schedule in words, anything else by its fields. */
function OtherEffect({ effect: { action, before, after } }: { effect: Effect }) {
  // For these actions the server records the whole plan, or the whole schedule.
  if (action === 'rollout.started') return <PlannedSteps plan={after as Json & StartedPlan} />;
  if (action === 'schedule.created') return <ScheduledSteps schedule={after as Json & NewSchedule} />;
  if (action.endsWith('.deleted')) return null;
  return <FieldDiff before={before} after={after} />;
}

interface StartedPlan {
  readonly steps: readonly RolloutPlanStep[];
}

function PlannedSteps({ plan: { steps } }: { plan: StartedPlan }) {
  const timeOf = ({ at, waitMinutes }: RolloutPlanStep) => {
    if (at !== undefined) return dueText(at).local;
    return waitMinutes === undefined ? messages.now : messages.wait(waitMinutes);
  };
  return (
    <ol className="flex flex-col gap-0.5">
      {steps.map((step) => (
        <li key={step.rolloutPct} className="flex gap-x-2">
          <strong className="w-14 font-semibold tabular-nums">{step.rolloutPct} %</strong>
          <span className="text-ink-2">{timeOf(step)}</span>
        </li>
      ))}
    </ol>
  );
}

function ScheduledSteps({ schedule: { dueAt, changes } }: { schedule: NewSchedule }) {
  return (
    <>
      <p>
        <span className="text-ink-3">{messages.due}</span>{' '}
        <time dateTime={dueAt} title={dueText(dueAt).utc} className="font-medium">
          {dueText(dueAt).local}
        </time>
      </p>
      <ul>
        {changes.map((step) => (
          <li key={step.key} className="flex flex-wrap items-baseline gap-x-2">
            <span className="font-mono text-xs wrap-anywhere">{step.key}</span>
            <span className="text-ink-2">{stepText(step)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** A state that has not been changed yet: what it would become, and the current state if that differs. */
function ProposedState({ proposal, effect }: { proposal: ProposalRecord; effect: Effect }) {
  const { before, after } = statesOf(effect);
  // A flag that the proposal creates is not there yet: the server would answer that it does not exist.
  const { data: flag } = useFlag(proposal.project, effect.target, {
    enabled: !creates(proposal, effect.target),
  });
  const now = flag?.environments[effect.environment ?? ''];
  const isSame = flag === undefined || differingFields(before, now?.state).length === 0;
  if (isSame) return <StateDiff before={before} after={after} />;

  return (
    <dl className="grid gap-x-3 gap-y-2 sm:grid-cols-[6rem_minmax(0,1fr)]">
      <dt className="text-ink-3">{messages.proposed}</dt>
      <dd>
        <StateDiff before={before} after={after} />
      </dd>
      <dt className="text-warn">{messages.since}</dt>
      <dd>
        <StateDiff before={before} after={now?.state} />
        <ChangedBy record={now} />
        {isWaiting(proposal) && <p className="mt-1 text-xs text-warn">{messages.wouldEnd}</p>}
      </dd>
    </dl>
  );
}

/** Whether a proposal creates a flag. */
function creates({ effects }: ProposalRecord, flag: string): boolean {
  return effects.some(({ action, target }) => action === 'flag.created' && target === flag);
}

function ChangedBy({ record }: { record: StateRecord | undefined }) {
  if (record?.updatedBy === undefined) return null;
  return (
    <p className="mt-1 text-xs text-ink-3">
      {messages.byPerson} <Author actor={record.updatedBy} />, <TimeAgo at={record.updatedAt} />
    </p>
  );
}

/** The states of an effect on a state: the journal has states in them. */
function statesOf({ before, after }: Effect): {
  before: FlagState | undefined;
  after: FlagState | undefined;
} {
  return { before: before as FlagState | undefined, after: after as FlagState | undefined };
}
