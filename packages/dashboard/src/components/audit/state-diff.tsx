import type { FlagState } from '../../api/types.ts';
import { Becomes } from '../becomes.tsx';
import { differingFields, StateSummary } from '../state-summary.tsx';
import { FieldDiff } from './field-diff.tsx';
import { messages } from './messages.ts';

/** Two states of a flag. Neither is there where it is not set. */
interface StatePair {
  readonly before?: FlagState | null | undefined;
  readonly after?: FlagState | null | undefined;
}

/** What changes between two states of a flag. The state itself if nothing does. */
export function StateDiff({ before, after }: StatePair) {
  if (differingFields(before, after).length === 0) return <StateSummary state={after} />;
  const isRemoved = after === null || after === undefined;
  if (isRemoved)
    return (
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <StateSummary state={before} />
        <Becomes />
        <strong className="font-medium text-danger">{messages.removedState}</strong>
      </p>
    );

  return (
    <>
      {(before === null || before === undefined) && (
        <p className="flex items-center gap-x-2">
          <StateSummary state={before} />
          <Becomes />
        </p>
      )}
      <FieldDiff before={before ?? undefined} after={after} />
    </>
  );
}

/** An item of a list of changes: the key of a flag, and what changes in its state. */
export function ChangedFlag({ flag, before, after }: StatePair & { readonly flag: string }) {
  return (
    <li className="px-3 py-2">
      <p className="font-mono text-xs wrap-anywhere">{flag}</p>
      <StateDiff before={before} after={after} />
    </li>
  );
}
