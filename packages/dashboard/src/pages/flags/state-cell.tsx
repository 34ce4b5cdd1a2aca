import { memo } from 'react';
import { cellName, useWriteStatus } from '../../api/own-writes.ts';
import type { EnvironmentRecord, StateRecord } from '../../api/types.ts';
import { useChangeState } from '../../changes/use-change-state.ts';
import { useWhyNotChange } from '../../changes/use-why-not-change.ts';
import { classNames } from '../../components/class-names.ts';
import { valuePreview } from '../../components/state-text.ts';
import { Switch } from '../../components/switch.tsx';
import { WriteMark } from '../../components/write-mark.tsx';
import { useNews } from './use-news.ts';

/** A flag's state in one environment: its switch, and what it serves. */
export const StateCell = memo(function StateCell({
  project,
  environment,
  flagKey,
  record,
  isArchived,
  className,
}: {
  project: string;
  environment: EnvironmentRecord;
  flagKey: string;
  record: StateRecord | undefined;
  isArchived: boolean;
  className?: string;
}) {
  const changeState = useChangeState(project);
  const status = useWriteStatus(cellName(project, environment.name, flagKey));
  const refusal = useWhyNotChange()(environment);
  const isNews = useNews(record);
  const state = record?.state;
  function flip(enabled: boolean): void {
    // It stays enabled while it is being saved, or it would lose the focus.
    if (status === 'saving') return;
    void changeState({ key: flagKey, environment, before: record, after: { ...state, enabled } });
  }
  return (
    <div
      className={classNames('flex min-w-0 items-center gap-2 rounded', isNews && 'animate-flash', className)}
      data-news={isNews || undefined}
      title={refusal}
    >
      <Switch
        label={`${flagKey} in ${environment.name}`}
        checked={state?.enabled ?? false}
        disabled={refusal !== undefined || isArchived}
        aria-busy={status === 'saving'}
        onChange={(event) => flip(event.target.checked)}
      />
      <span
        className={classNames('w-6 shrink-0 text-xs', state?.enabled ? 'font-medium text-ink' : 'text-ink-3')}
      >
        {state === undefined ? <NotSet environment={environment.name} /> : state.enabled ? 'On' : 'Off'}
      </span>
      {state?.rolloutPct !== undefined && (
        <span className="shrink-0 rounded bg-accent-soft px-1 text-2xs font-medium text-accent">
          {state.rolloutPct} %
        </span>
      )}
      {state?.value !== undefined && (
        <code
          className="min-w-0 truncate font-mono text-2xs text-ink-2"
          title={valuePreview(state.value, 300)}
        >
          {valuePreview(state.value, 60)}
        </code>
      )}
      <WriteMark status={status} />
    </div>
  );
});

/** The flag does not exist for readers of this environment. */
function NotSet({ environment }: { environment: string }) {
  return (
    <span title={`There is no such flag in ${environment} yet: switch it on to put it there`}>
      <span aria-hidden>–</span>
      <span className="sr-only">Not set</span>
    </span>
  );
}
