import { useMemo } from 'react';
import { useParams } from 'wouter';
import { useSearchState } from '../../browser/use-search-state.ts';
import { LineDeliveries } from '../../components/audit/line-delivery.tsx';
import { useEnvironmentFilter } from '../../components/environment-filter.tsx';
import { Page } from '../../components/page.tsx';
import { filterFromAddress } from './history-filter.ts';
import { messages } from './messages.ts';
import { OneChange } from './one-change.tsx';
import { Timeline } from './timeline.tsx';

/** The screen "History": everything done in a project, or the one change that the address names. */
export function HistoryPage() {
  const { project = '' } = useParams<{ project: string }>();
  const [params] = useSearchState();
  const [environment] = useEnvironmentFilter(project);
  const filter = useMemo(
    () => filterFromAddress(params, project, environment?.name),
    [params, project, environment],
  );
  const change = params.get('change');

  return (
    <Page title={`${messages.title} · ${project}`} heading={messages.title}>
      {change === null ? (
        <LineDeliveries project={project}>
          <Timeline filter={filter} />
        </LineDeliveries>
      ) : (
        <OneChange key={change} seq={change} project={project} />
      )}
    </Page>
  );
}
