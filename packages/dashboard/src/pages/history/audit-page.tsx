import { useMemo } from 'react';
import { useSearchState } from '../../browser/use-search-state.ts';
import { Page } from '../../components/page.tsx';
import { filterFromAddress } from './history-filter.ts';
import { messages } from './messages.ts';
import { OneChange } from './one-change.tsx';
import { Timeline } from './timeline.tsx';

/** The screen "Audit log": everything done in all projects, and to people and tokens. */
export function AuditPage() {
  const [params] = useSearchState();
  const filter = useMemo(() => filterFromAddress(params, undefined), [params]);
  const change = params.get('change');
  return (
    <Page title={messages.auditTitle} intro={messages.auditIntro}>
      {change === null ? (
        <Timeline filter={filter} />
      ) : (
        <OneChange key={change} seq={change} project={undefined} />
      )}
    </Page>
  );
}
