import { lazy, memo } from 'react';
import type { EnvironmentRecord, FlagState, RolloutPlanRecord, StateRecord } from '../../api/types.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { useStateSwitch } from '../../changes/state-switch.ts';
import { WriteMark } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { SparePart } from '../../components/parts.tsx';
import { shownValue } from '../../components/state-summary.tsx';
import { Switch } from '../../components/switch.tsx';
import { useOpenPlan } from './flag-marks.tsx';
import { messages } from './messages.ts';

const NoMark = (_: { plan: RolloutPlanRecord }) => null;

const PlanMark = lazy(async () => {
  // The cell works without it.
  const part = await import('../../flags/rollouts/plan-mark.tsx').catch(() => undefined);
  return { default: part?.PlanMark ?? NoMark };
});

/** A flag's state in one environment: its switch, rollout and value. */
export const StateCell = memo(function StateCell({
  project,
  environment,
  flagKey,
  record,
  isArchived,
  hasTwoLines = false,
  className,
}: {
  project: string;
  environment: EnvironmentRecord;
  flagKey: string;
  record: StateRecord | undefined;
  isArchived: boolean;
  /** Whether a value that has no room beside the rollout stands below it. */
  hasTwoLines?: boolean;
  className?: string;
}) {
  const refusal = useReadOnlyReason()(environment);
  const { status, shown, isForeign, flip } = useStateSwitch({ project, environment, flagKey, record });
  const plan = useOpenPlan(flagKey, environment.name);
  const state = shown?.state;

  return (
    <div
      className={classNames(
        'relative flex min-w-0 items-center gap-2 rounded',
        isForeign && 'animate-flash',
        className,
      )}
      data-news={isForeign || undefined}
      title={refusal}
    >
      {/* A click that just misses the switch must not open the flag. */}
      <span className="-m-2 flex shrink-0 cursor-default items-center gap-2 p-2" data-control>
        <Switch
          label={`${flagKey} in ${environment.name}`}
          checked={state?.enabled ?? false}
          disabled={refusal !== undefined || isArchived}
          aria-busy={status === 'saving'}
          onChange={(event) => flip(event.target.checked)}
        />
        <span className={classNames('w-6 text-xs', state?.enabled ? 'font-medium text-ink' : 'text-ink-3')}>
          {state === undefined ? (
            <NotSet environment={environment.name} />
          ) : state.enabled ? (
            messages.list.on
          ) : (
            messages.list.off
          )}
        </span>
      </span>
      {plan !== undefined && (
        <SparePart>
          <PlanMark plan={plan} />
        </SparePart>
      )}
      {state !== undefined && <Served state={state} valueName={shown?.valueName} hasTwoLines={hasTwoLines} />}
      {/* In the gap between two cells: the text needs the whole cell. */}
      <span className="absolute -right-3 flex">
        <WriteMark status={status} />
      </span>
    </div>
  );
});

/** The shortest useful piece of a longer value, in characters. */
const LEAST_VALUE = 6;

/**
 * The rollout and the value, in a container that wraps: a value of which no useful piece fits beside the rollout gets the second
 * line, or is hidden where there is only one.
 */
function Served({
  state,
  valueName,
  hasTwoLines,
}: {
  state: FlagState;
  valueName: string | undefined;
  hasTwoLines: boolean;
}) {
  const { enabled, rolloutPct } = state;
  return (
    <span
      className={classNames(
        'flex min-w-0 flex-1 flex-wrap items-center gap-x-2 overflow-hidden',
        hasTwoLines ? 'max-h-10' : 'h-5',
      )}
    >
      {rolloutPct !== undefined && (
        <span
          data-rollout
          className={classNames(
            'h-5 rounded border px-1 text-2xs leading-4.5 font-medium whitespace-nowrap',
            enabled
              ? 'border-transparent bg-accent-soft text-accent group-data-chosen:bg-surface'
              : 'border-line text-ink-3',
          )}
        >
          {rolloutPct} %
        </span>
      )}
      <Value state={state} name={valueName} />
    </span>
  );
}

function Value({ state, name }: { state: FlagState; name: string | undefined }) {
  const text = shownValue(state, 60);
  if (text === undefined) return null;
  return (
    <code
      className={classNames(
        'h-5 flex-1 truncate font-mono text-2xs leading-5',
        state.enabled ? 'text-ink-2' : 'text-ink-3',
      )}
      style={{ minWidth: `${Math.min(LEAST_VALUE, text.length)}ch` }}
      title={shownValue(state, 300)}
    >
      {name !== undefined && <span className="font-sans font-medium">{name} </span>}
      {text}
    </code>
  );
}

/** The flag does not exist for readers of this environment. */
function NotSet({ environment }: { environment: string }) {
  return (
    <span title={messages.list.notSetHint(environment)}>
      <span aria-hidden>–</span>
      <span className="sr-only">{messages.list.notSet}</span>
    </span>
  );
}
