import Equal from 'lucide-react/icons/equal';
import { useCallback, useMemo, useState } from 'react';
import { useComparison } from '../../api/compare.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { CopyDialog } from '../../changes/copy-dialog.tsx';
import { useWhyNotChange } from '../../changes/use-why-not-change.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { Problem } from '../../components/problem.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { ComparisonFilters } from './comparison-filters.tsx';
import { DifferenceTable } from './difference-table.tsx';
import { filterDifferences } from './filter-differences.ts';
import { SelectionBar } from './selection-bar.tsx';

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
  const whyNot = useWhyNotChange()(to);
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
          {whyNot !== undefined && <p className="mb-3 text-ink-2">{whyNot}</p>}
          <DifferenceTable
            differences={shown}
            from={from}
            to={to}
            project={project}
            chosen={whyNot === undefined ? chosen : undefined}
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
