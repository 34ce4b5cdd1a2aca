import Equal from 'lucide-react/icons/equal';
import { useCallback, useMemo, useState } from 'react';
import { type StateDifference, useComparison } from '../../api/compare.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { CopyDialog } from '../../changes/copy-dialog.tsx';
import { Button } from '../../components/button.tsx';
import { SearchField } from '../../components/list-filter.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { Select } from '../../components/select.tsx';
import { differingFields, STATE_FIELD_NAMES } from '../../components/state-summary.tsx';
import { DifferenceTable } from './difference-table.tsx';

/** How `to` differs from `from`, with a filter, a selection, and the copy of what is selected. */
export function Differences({
  project,
  from,
  to,
}: {
  project: string;
  from: EnvironmentRecord;
  to: EnvironmentRecord;
}) {
  const { data, error, refetch, isPlaceholderData } = useComparison(project, {
    from: from.name,
    to: to.name,
  });
  const [params] = useSearchState();
  const readOnlyReason = useReadOnlyReason()(to);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [copied, setCopied] = useState<readonly string[]>();
  const [q, field] = [params.get('q') ?? '', params.get('field') ?? ''];
  const shown = useMemo(() => filterDifferences(data?.differences ?? [], { q, field }), [data, q, field]);
  // What does not differ any more cannot be copied any more.
  const keys = useMemo(
    () => (data?.differences ?? []).map(({ key }) => key).filter((key) => chosen.has(key)),
    [data, chosen],
  );
  const close = useCallback(() => setCopied(undefined), []);

  if (error && data === undefined) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined || isPlaceholderData) return <SkeletonRows />;
  return (
    <>
      {data.differences.length === 0 ? (
        <EmptyState icon={<Equal size={20} aria-hidden />} title={`${from.name} and ${to.name} are equal`}>
          Every flag has the same state in both. Change one in {from.name}, and it stands here, ready to be
          copied to {to.name}.
        </EmptyState>
      ) : (
        <>
          <ComparisonFilters shown={shown.length} all={data.differences.length} />
          {readOnlyReason !== undefined && <p className="mb-3 text-ink-2">{readOnlyReason}</p>}
          <DifferenceTable
            differences={shown}
            from={from}
            to={to}
            project={project}
            chosen={readOnlyReason === undefined ? chosen : undefined}
            onChoose={setChosen}
          />
        </>
      )}
      {keys.length > 0 && (
        <SelectionBar
          count={keys.length}
          to={to}
          onClear={() => setChosen(new Set())}
          onCopy={() => setCopied(keys)}
        />
      )}
      {copied && (
        <CopyDialog
          {...{ project, from, to }}
          keys={copied}
          onClose={close}
          onCopied={() => setChosen(new Set())}
        />
      )}
    </>
  );
}

/** Which differences are shown; kept in the address. */
function ComparisonFilters({ shown, all }: { shown: number; all: number }) {
  const [params, setParams] = useSearchState();
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label="Filter by key"
        className="w-64 max-sm:w-full"
        value={params.get('q') ?? ''}
        onChange={(q) => setParams({ q })}
      />
      <Select
        label="What differs"
        value={params.get('field') ?? ''}
        onChange={(event) => setParams({ field: event.target.value })}
      >
        <option value="">any difference</option>
        {Object.entries(STATE_FIELD_NAMES).map(([field, name]) => (
          <option key={field} value={field}>
            {name}
          </option>
        ))}
      </Select>
      <span className="text-ink-2" role="status">
        {shown === all ? '' : `${shown} of `}
        {all} {all === 1 ? 'flag differs' : 'flags differ'}
      </span>
    </div>
  );
}

/** The differences whose key has the text in it, in the member that is asked for. Empty texts let all through. */
function filterDifferences(
  differences: readonly StateDifference[],
  { q, field }: { readonly q: string; readonly field: string },
): readonly StateDifference[] {
  const text = q.trim().toLowerCase();
  return differences.filter(({ key, from, to }) => {
    if (text !== '' && !key.toLowerCase().includes(text)) return false;
    return field === '' || differingFields(from, to).some((each) => each === field);
  });
}

/** What can be done with the flags that are selected. */
function SelectionBar({
  count,
  to,
  onClear,
  onCopy,
}: {
  count: number;
  to: EnvironmentRecord;
  onClear: () => void;
  onCopy: () => void;
}) {
  return (
    <div
      data-bottom-bar
      className="sticky bottom-3 z-10 mt-3 flex animate-enter flex-wrap items-center gap-2 rounded-lg border border-line bg-raised p-2 pl-4 shadow-pop"
    >
      <span className="mr-auto font-medium">{count} selected</span>
      <Button kind="quiet" onClick={onClear}>
        Clear
      </Button>
      <Button kind="primary" onClick={onCopy}>
        Copy to {to.name}…
      </Button>
    </div>
  );
}
