import type { WriteStatus } from '../../api/own-writes.ts';
import type { EnvironmentRecord, StateRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { Switch } from '../../components/switch.tsx';
import { WriteMark } from '../../components/write-mark.tsx';

/** The environment's name and the switch, with its state in words. */
export function CardHead({
  environment,
  flagKey,
  record,
  status,
  obstacle,
  onFlip,
}: {
  environment: EnvironmentRecord;
  flagKey: string;
  record: StateRecord | undefined;
  status: WriteStatus | undefined;
  /** Why it may not be changed. */
  obstacle: string | undefined;
  onFlip: (enabled: boolean) => void;
}) {
  const { name } = environment;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 pt-3 pb-2">
      <h2 className="min-w-0 flex-1 text-base font-semibold">
        <EnvironmentBadge environment={environment} className="max-w-full" />
      </h2>
      <WriteMark status={status} />
      <span title={obstacle} className="flex items-center gap-2">
        <span className="font-medium">
          {record === undefined ? 'Not there' : record.state.enabled ? 'On' : 'Off'}
        </span>
        <Switch
          label={`${flagKey} in ${name}`}
          checked={record?.state.enabled ?? false}
          disabled={obstacle !== undefined}
          aria-busy={status === 'saving'}
          onChange={(event) => onFlip(event.target.checked)}
        />
      </span>
      {obstacle !== undefined && <p className="w-full text-xs text-ink-3">{obstacle}</p>}
    </div>
  );
}
