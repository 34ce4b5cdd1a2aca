import { useMemo } from 'react';
import type { EnvironmentRecord } from '../../api/types.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { Page } from '../../components/page.tsx';
import { filterFromAddress } from '../history/history-filter.ts';
import { Timeline } from '../history/timeline.tsx';

const NONE: readonly EnvironmentRecord[] = [];

/** The screen "Audit log": everything that was done to all projects, and who was let in. */
export function AuditPage() {
  const [params] = useSearchState();
  const filter = useMemo(() => filterFromAddress(params, undefined), [params]);
  const intro = 'Everything that was done: in all projects, and to the people and tokens that may do it.';
  return (
    <Page title="Audit log" intro={intro}>
      <Timeline filter={filter} environments={NONE} />
    </Page>
  );
}
