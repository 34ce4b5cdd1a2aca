import { memo } from 'react';
import { cellName, useWriteStatus } from '../../api/own-writes.ts';
import { useCan, useOperator } from '../../api/session.ts';
import type { EnvironmentRecord, StateRecord } from '../../api/types.ts';
import { useChangeState } from '../../changes/use-change-state.ts';
import { valuePreview } from '../../components/state-text.ts';
import { Switch } from '../../components/switch.tsx';

/** A flag's state in one environment: its switch, and what it serves. */
export const StateCell = memo(function StateCell({
  project,
  environment,
  flagKey,
  record,
}: {
  project: string;
  environment: EnvironmentRecord;
  flagKey: string;
  record: StateRecord | undefined;
}) {
  const changeState = useChangeState(project);
  const status = useWriteStatus(cellName(project, environment.name, flagKey));
  const canEdit = useCan('editor');
  const { role, canChangeProtected } = useOperator();
  const isAllowed = canEdit && (!environment.protected || canChangeProtected || role === 'admin');
  const state = record?.state;
  return (
    <div className="flex items-center gap-2">
      <Switch
        label={`${flagKey} in ${environment.name}`}
        checked={state?.enabled ?? false}
        disabled={!isAllowed || status === 'saving'}
        onChange={(event) =>
          void changeState({
            key: flagKey,
            environment,
            before: record,
            after: { ...state, enabled: event.target.checked },
          })
        }
      />
      <span className="text-xs text-ink-2">
        {state === undefined ? 'not set' : state.enabled ? 'On' : 'Off'}
      </span>
      {state?.rolloutPct !== undefined && <span className="text-xs text-ink-2">{state.rolloutPct} %</span>}
      {state?.value !== undefined && (
        <code className="max-w-32 truncate font-mono text-2xs text-ink-3">{valuePreview(state.value)}</code>
      )}
    </div>
  );
});
