import { useMemo } from 'react';
import { useParams } from 'wouter';
import { useProjectDeliveries } from '../../api/clients.ts';
import { useEnvironments } from '../../api/projects.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { Page } from '../../components/page.tsx';
import { useEnvironmentFilter } from '../../shell/environment-filter.tsx';
import { filterFromAddress } from './history-filter.ts';
import { messages } from './messages.ts';
import { Timeline } from './timeline.tsx';

/** The screen "History": everything done in a project. */
export function HistoryPage() {
  const { project = '' } = useParams<{ project: string }>();
  const environments = useEnvironments(project);
  const { data: deliveries } = useProjectDeliveries(project);
  const [params] = useSearchState();
  const [environment] = useEnvironmentFilter(project);
  const filter = useMemo(
    () => filterFromAddress(params, project, environment?.name),
    [params, project, environment],
  );
  return (
    <Page title={`${messages.title} · ${project}`} heading={messages.title}>
      <Timeline filter={filter} environments={environments} deliveries={deliveries} />
    </Page>
  );
}
