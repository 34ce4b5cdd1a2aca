import { publishEnvironment, usePublications, withdrawEnvironment } from '../../api/publications.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan } from '../../api/session.ts';
import type { EnvironmentRecord, ProjectRecord, PublicationRecord } from '../../api/types.ts';
import { useConfirmedAction } from '../../components/actions.tsx';
import { Badge, EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { Loaded } from '../../components/screen-states.tsx';
import { Section } from '../../components/section.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { messages } from './publication-messages.tsx';

/** Which environments are published, where, and how far behind; publishes and withdraws them. */
export function PublicationsSection({ project }: { project: ProjectRecord }) {
  const reading = usePublications(project.name);
  return (
    <Section title={messages.title} isBoxed className="mt-8">
      <p className="text-ink-2">{messages.intro}</p>
      <Loaded reading={reading} rows={project.environments.length}>
        {(publications) => (
          <ul className="mt-3">
            {project.environments.map((environment) => (
              <PublicationRow
                key={environment.name}
                project={project.name}
                environment={environment}
                publication={publications.find((each) => each.environment === environment.name)}
              />
            ))}
          </ul>
        )}
      </Loaded>
    </Section>
  );
}

/** An environment, and its publication if it has one. */
interface PublicationProps {
  readonly project: string;
  readonly environment: EnvironmentRecord;
  readonly publication: PublicationRecord | undefined;
}

function PublicationRow(props: PublicationProps) {
  const { environment, publication } = props;
  const canChange = useCan('admin');
  const { publish, withdraw } = usePublishing(props);
  const { name } = environment;

  return (
    <li className="flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-t border-line py-3">
      <div className="flex min-w-0 flex-1 basis-64 flex-col gap-1">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <EnvironmentBadge environment={environment} className="font-medium" />
          <Progress publication={publication} />
        </div>
        {publication && (
          <p className="flex min-w-0 items-center gap-1 text-ink-2">
            <code className="min-w-0 break-all font-mono text-xs">{publication.path}/pointer.json</code>
            <CopyButton text={`${publication.path}/pointer.json`} label={messages.copyPath(name)} />
          </p>
        )}
      </div>
      {canChange &&
        (publication ? (
          <Button aria-label={messages.withdrawEnvironment(name)} onClick={() => void withdraw()}>
            {messages.withdraw}
          </Button>
        ) : (
          <Button aria-label={messages.publishEnvironment(name)} onClick={() => void publish()}>
            {messages.publish}
          </Button>
        ))}
    </li>
  );
}

/** How far the files are. */
function Progress({ publication }: Pick<PublicationProps, 'publication'>) {
  if (publication === undefined) return <span className="text-ink-3">{messages.notPublished}</span>;
  const { environmentRevision, revision, publishedAt } = publication;
  if (revision === undefined || publishedAt === undefined)
    return (
      <>
        <Badge kind="warn">{messages.waiting}</Badge>
        <span className="text-ink-2">{messages.waitingWhy}</span>
      </>
    );

  const behind = environmentRevision - revision;
  return (
    <>
      {behind > 0 ? (
        <Badge kind="warn">{messages.behind(behind)}</Badge>
      ) : (
        <Badge kind="good">{messages.published}</Badge>
      )}
      <span className="text-ink-2">{messages.writtenAt(revision, <TimeAgo at={publishedAt} />)}</span>
    </>
  );
}

/** Publishes once the person has typed the environment's name, and withdraws after a question. */
function usePublishing({ project, environment }: PublicationProps) {
  const perform = useConfirmedAction();
  const { name } = environment;
  const stale = [queryKeys.project(project)];

  const publish = () =>
    perform({
      ...messages.publishing(name),
      isDangerous: true,
      typed: name,
      run: () => publishEnvironment(project, name),
      stale,
    });
  const withdraw = () =>
    perform({
      ...messages.withdrawing(name),
      isDangerous: true,
      run: () => withdrawEnvironment(project, name),
      stale,
    });
  return { publish, withdraw };
}
