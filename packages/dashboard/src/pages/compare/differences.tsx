import Equal from 'lucide-react/icons/equal';
import { useCallback, useMemo, useState } from 'react';
import { useComparison } from '../../api/compare.ts';
import type { EnvironmentRecord, StateDifference } from '../../api/types.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { useReadOnlyReason } from '../../changes/change-guards.tsx';
import { CopyDialog } from '../../changes/copy-dialog.tsx';
import { clearOfBar } from '../../components/bottom-bar.ts';
import { Button } from '../../components/button.tsx';
import { useActionsCommand } from '../../components/commands.tsx';
import { SearchField } from '../../components/list-filter.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { Select } from '../../components/select.tsx';
import { differingFields, STATE_FIELD_NAMES } from '../../components/state-summary.tsx';
import { DifferenceTable } from './difference-table.tsx';
import { messages } from './messages.tsx';

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
  const [params, setParams] = useSearchState();
  const readOnlyReason = useReadOnlyReason()(to);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [copied, setCopied] = useState<readonly string[]>();
  const [q, field] = [params.get('q') ?? '', params.get('field') ?? ''];
  const shown = useMemo(() => filterDifferences(data?.differences ?? [], { q, field }), [data, q, field]);
  // Flags that match now need no copying.
  const keys = useMemo(
    () => (data?.differences ?? []).map(({ key }) => key).filter((key) => selected.has(key)),
    [data, selected],
  );
  const close = useCallback(() => setCopied(undefined), []);

  if (error && data === undefined) return <Problem error={error} onRetry={() => void refetch()} />;
  if (data === undefined || isPlaceholderData) return <SkeletonRows />;

  return (
    <>
      {data.differences.length === 0 ? (
        <EmptyState icon={Equal} title={messages.equalTitle(from.name, to.name)}>
          {messages.equal}
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
            selected={readOnlyReason === undefined ? selected : undefined}
            onSelect={setSelected}
            onClearFilters={() => setParams({ q: '', field: '' })}
          />
        </>
      )}

      {keys.length > 0 && (
        <SelectionBar
          count={keys.length}
          to={to}
          onClear={() => setSelected(new Set())}
          onCopy={() => setCopied(keys)}
        />
      )}
      {copied && (
        <CopyDialog
          project={project}
          from={from}
          to={to}
          keys={copied}
          onClose={close}
          onCopied={() => setSelected(new Set())}
        />
      )}
    </>
  );
}

/** The filters, kept in the URL. */
function ComparisonFilters({ shown, all }: { shown: number; all: number }) {
  const [params, setParams] = useSearchState();
  return (
    <div className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label={messages.filterByKey}
        className="w-64 max-sm:w-full"
        value={params.get('q') ?? ''}
        onChange={(q) => setParams({ q })}
      />
      <Select
        label={messages.differsIn}
        value={params.get('field') ?? ''}
        onSelect={(field) => setParams({ field })}
        none={messages.anyDifference}
        choices={Object.entries(STATE_FIELD_NAMES)}
      />
      <span className="text-ink-2" role="status">
        {messages.count(shown, all)}
      </span>
    </div>
  );
}

/** The differences whose key contains `q` and that differ in `field`. Empty filters match everything. */
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

/** The actions on the selected flags. */
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
  const bar = useActionsCommand();
  return (
    <div ref={clearOfBar} data-bottom-bar className="sticky bottom-3 z-10 mt-3">
      <div
        ref={bar}
        className="flex animate-enter flex-wrap items-center gap-2 rounded-lg border border-line bg-raised p-2 pl-4 shadow-pop"
      >
        <span className="mr-auto font-medium">{messages.selected(count)}</span>
        <Button kind="primary" onClick={onCopy}>
          {messages.copyTo(to.name)}
        </Button>
        <Button kind="quiet" onClick={onClear}>
          {messages.clear}
        </Button>
      </div>
    </div>
  );
}
