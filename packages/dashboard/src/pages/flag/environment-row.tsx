import ChevronRight from 'lucide-react/icons/chevron-right';
import { memo, type ReactNode, useId } from 'react';
import type { EnvironmentRecord, FlagState, StateRecord } from '../../api/types.ts';
import { useStateSwitch } from '../../changes/state-switch.ts';
import { Author, Badge, ENVIRONMENT_FILL, EnvironmentBadge, WriteMark } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { valuePreview } from '../../components/state-summary.tsx';
import { Switch } from '../../components/switch.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { RowPlan } from '../../flags/rollouts/row-plan.tsx';
import { messages } from './messages.tsx';

const words = messages.matrix;

/** The columns of a row where there is space; otherwise a row has two lines. */
export const COLUMNS =
  '@3xl:grid-cols-[minmax(10rem,1.2fr)_6rem_minmax(6rem,9rem)_minmax(6rem,2fr)_minmax(9rem,1.2fr)] items-center gap-x-3';

/** Selects the head of an environment's row: what the focus returns to from there. */
export function rowHead(environment: string): string {
  return `[data-environment=${JSON.stringify(environment)}] button[aria-expanded]`;
}

/** It gets no more of the flag than its own state, so that a change elsewhere does not render it again. */
export const EnvironmentRow = memo(function EnvironmentRow({
  project,
  flagKey,
  environment,
  record,
  obstacle,
  isOpen,
  isDirty,
  onToggle,
  children,
}: {
  project: string;
  flagKey: string;
  environment: EnvironmentRecord;
  record: StateRecord | undefined;
  obstacle: string | undefined;
  isOpen: boolean;
  isDirty: boolean;
  onToggle: (name: string, isOpen: boolean) => void;
  /** The editor; without one the row is collapsed. */
  children: ReactNode;
}) {
  const id = useId();
  const { name } = environment;
  const { status, shown, isForeign, flip } = useStateSwitch({ project, environment, flagKey, record });
  const state = shown?.state;

  return (
    <li
      data-environment={name}
      // When a control in it goes away.
      data-home={rowHead(name)}
      data-news={isForeign || undefined}
      className={classNames(
        'relative border-t border-line first:border-t-0 @3xl:first:border-t',
        isForeign && 'animate-flash',
        // Rows out of view cost no layout.
        !isOpen && '[contain-intrinsic-size:auto_44px] [content-visibility:auto]',
      )}
    >
      {/* A region only while it is expanded: hundreds of landmarks would be in the way. */}
      <div {...(isOpen ? { role: 'region', 'aria-label': name } : {})}>
        {isOpen && (
          <div
            aria-hidden
            className={classNames('absolute inset-y-0 left-0 w-1', ENVIRONMENT_FILL[environment.color])}
          />
        )}

        <div
          className={classNames(
            'relative grid min-h-11 grid-cols-[minmax(0,1fr)_auto] gap-y-1 px-4 py-1.5 hover:bg-hover',
            COLUMNS,
          )}
        >
          <h3 className="flex min-w-0 items-center gap-2">
            <Expander
              environment={environment}
              isOpen={isOpen}
              controls={id}
              onToggle={() => onToggle(name, !isOpen)}
            />
            {isDirty && !isOpen && <Badge kind="warn">{words.unsaved}</Badge>}
          </h3>

          <span
            className="relative z-1 flex items-center gap-2 justify-self-end @3xl:justify-self-start"
            title={obstacle}
          >
            <Switch
              label={`${flagKey} in ${name}`}
              checked={state?.enabled ?? false}
              disabled={obstacle !== undefined}
              aria-busy={status === 'saving'}
              onChange={(event) => flip(event.target.checked)}
            />
            <span
              className={classNames(
                // All words get the same width on a narrow page, so that the switches line up.
                'whitespace-nowrap max-@3xl:w-12',
                state?.enabled ? 'font-medium' : 'text-ink-3',
              )}
            >
              {state === undefined ? words.notSet : state.enabled ? words.on : words.off}
            </span>
            <WriteMark status={status} />
          </span>

          {/* On a narrow page these share the second line. */}
          <div className="col-span-2 flex min-w-0 flex-wrap items-center gap-x-3 gap-y-0.5 pl-5 @3xl:contents">
            {state !== undefined && (
              <RolloutBar state={state}>
                <RowPlan project={project} flagKey={flagKey} environment={name} />
              </RolloutBar>
            )}
            {state?.value !== undefined && (
              <span
                className="flex min-w-0 flex-1 basis-24 items-baseline gap-1.5 text-xs text-ink-2 @3xl:col-start-4"
                title={valuePreview(state.value, 300)}
              >
                {shown?.valueName !== undefined && (
                  <span className="max-w-3/5 shrink-0 truncate rounded bg-hover px-1.5 py-px font-medium">
                    {shown.valueName}
                  </span>
                )}
                <code className="min-w-0 truncate font-mono">{valuePreview(state.value, 80)}</code>
              </span>
            )}
            <p className="flex min-w-0 flex-wrap gap-x-1 text-xs text-ink-3 @3xl:col-start-5">
              {/* The editor says the same, and more. */}
              {shown !== undefined && !isOpen && <LastChange record={shown} />}
            </p>
          </div>
        </div>

        {children !== false && (
          <div id={id} hidden={!isOpen} className="border-t border-line">
            {children}
          </div>
        )}
      </div>
    </li>
  );
});

/** The button that expands the row. Its box is the whole row. */
function Expander({
  environment,
  isOpen,
  controls,
  onToggle,
}: {
  environment: EnvironmentRecord;
  isOpen: boolean;
  /** The id of what it shows. */
  controls: string;
  onToggle: () => void;
}) {
  return (
    <button
      type="button"
      aria-expanded={isOpen}
      aria-controls={isOpen ? controls : undefined}
      className="flex min-h-8 min-w-0 items-center gap-1.5 font-medium after:absolute after:inset-0 focus-visible:outline-none focus-visible:after:outline-2 focus-visible:after:-outline-offset-2 focus-visible:after:outline-accent"
      onClick={onToggle}
    >
      <ChevronRight
        size={14}
        aria-hidden
        className={classNames('shrink-0 text-ink-3 transition-transform', isOpen && 'rotate-90')}
      />
      <EnvironmentBadge environment={environment} fit="cutIfWide" />
    </button>
  );
}

function LastChange({ record: { updatedAt, updatedBy } }: { record: StateRecord }) {
  return (
    <>
      <TimeAgo at={updatedAt} className="whitespace-nowrap" />
      {updatedBy !== undefined && (
        <span className="max-w-full truncate">
          {words.by} <Author actor={updatedBy} />
        </span>
      )}
    </>
  );
}

/** The share of targeting keys that get the flag, as a bar and in words. Without a bar while the flag is off. */
function RolloutBar({ state: { enabled, rolloutPct }, children }: { state: FlagState; children: ReactNode }) {
  const share = rolloutPct === undefined ? words.everyone : `${rolloutPct} %`;
  return (
    <span
      className={classNames(
        'flex min-w-0 items-center gap-2 text-xs whitespace-nowrap @3xl:col-start-3',
        enabled ? 'text-ink' : 'text-ink-3',
      )}
    >
      {enabled && (
        <span
          aria-hidden
          className="h-1.5 w-12 shrink-0 overflow-hidden rounded-full bg-line forced-colors:border"
        >
          <span
            className="block h-full bg-accent forced-color-adjust-none"
            style={{ width: `${rolloutPct ?? 100}%` }}
          />
        </span>
      )}
      {enabled ? share : words.whenOn(share)}
      {children}
    </span>
  );
}
