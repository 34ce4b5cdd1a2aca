import type { FlagState } from '../../api/types.ts';
import { Becomes } from '../becomes.tsx';
import { differingFields, StateSummary } from '../state-summary.tsx';
import { FieldDiff } from './field-diff.tsx';
import { messages } from './messages.ts';

/** What changes between two states of a flag; nothing, where it is not set. The state itself if nothing does. */
export function StateDiff({
  before,
  after,
}: {
  before: FlagState | null | undefined;
  after: FlagState | null | undefined;
}) {
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
