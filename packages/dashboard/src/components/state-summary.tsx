import type { FlagState } from '../api/types.ts';
import { classNames } from './class-names.ts';
import { valuePreview } from './state-text.ts';

/** A state in a line: on or off, for how many, with which value. The words say it, the colour only helps. */
export function StateSummary({
  state,
  className,
}: {
  state: FlagState | null | undefined;
  className?: string;
}) {
  if (state === null || state === undefined)
    return <span className={classNames('text-ink-3 italic', className)}>not there</span>;
  const { enabled, rolloutPct, value } = state;
  return (
    <span className={classNames('inline-flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5', className)}>
      <span
        className={classNames(
          'inline-flex h-5 items-center rounded px-1.5 text-xs font-medium',
          enabled ? 'bg-good-soft text-good' : 'bg-hover text-ink-2',
        )}
      >
        {enabled ? 'On' : 'Off'}
      </span>
      {rolloutPct !== undefined && <span className="text-xs text-ink-2">{rolloutPct} %</span>}
      {value !== undefined && (
        <code className="min-w-0 font-mono text-xs break-all text-ink-2" title={valuePreview(value, 2_000)}>
          {valuePreview(value, 60)}
        </code>
      )}
    </span>
  );
}
