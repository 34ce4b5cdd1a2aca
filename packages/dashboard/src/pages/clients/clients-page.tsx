import { useParams } from 'wouter';
import { useClients } from '../../api/clients.ts';
import { useEnvironments } from '../../api/projects.ts';
import { Page } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { EnvironmentPresence } from './environment-presence.tsx';
import { FirstClientNews } from './first-client-news.tsx';
import { HowToConnect } from './how-to-connect.tsx';
import { RecentDeliveries } from './recent-deliveries.tsx';
import { useLivePresence } from './use-live-presence.ts';

/** The screen "Clients": who listens to a project, and how soon changes reach them. */
export function ClientsPage() {
  const { project = '' } = useParams<{ project: string }>();
  const { data, error, refetch } = useClients(project);
  const environments = useEnvironments(project);
  useLivePresence(project);
  const streams = data?.reduce((sum, each) => sum + each.streams, 0);
  return (
    <Page
      title={`Clients · ${project}`}
      heading="Clients"
      intro="Streams that are open at this moment, by environment and key, over all nodes."
    >
      {error && data === undefined ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : data === undefined || streams === undefined ? (
        <SkeletonRows rows={5} />
      ) : (
        <>
          <FirstClientNews streams={streams} />
          <div className="grid grid-cols-1 gap-3 md:grid-cols-2 lg:grid-cols-3">
            {data.map((presence) => (
              <EnvironmentPresence
                key={presence.environment}
                presence={presence}
                environment={environments.find(({ name }) => name === presence.environment)}
              />
            ))}
          </div>
          {streams === 0 && <HowToConnect project={project} />}
          <RecentDeliveries project={project} environments={environments} />
        </>
      )}
    </Page>
  );
}
