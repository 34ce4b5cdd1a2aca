import { useMemo } from 'react';
import type { EnvironmentRecord } from '../../api/types.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { Page } from '../../components/page.tsx';
import { filterFromAddress } from '../history/history-filter.ts';
import { messages } from '../history/messages.ts';
import { Timeline } from '../history/timeline.tsx';

const NONE: readonly EnvironmentRecord[] = [];

/** The screen "Audit log": everything done in all projects, and to people and tokens. */
export function AuditPage() {
  const [params] = useSearchState();
  const filter = useMemo(() => filterFromAddress(params, undefined), [params]);
  return (
    <Page title={messages.auditTitle} intro={messages.auditIntro}>
      <Timeline filter={filter} environments={NONE} />
    </Page>
  );
}
