import { useEffect, useState } from 'react';
import { Link, useParams } from 'wouter';
import { isRefusal } from '../../api/api-error.ts';
import { useAudit } from '../../api/audit.ts';
import { useProjectDeliveries } from '../../api/clients.ts';
import { useFlag } from '../../api/flags.ts';
import { useOperators } from '../../api/operators.ts';
import { useProject } from '../../api/projects.ts';
import { useSchedules } from '../../api/schedules.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { Badge } from '../../components/badges.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { useEnvironmentFilter } from '../../shell/environment-filter.tsx';
import { links } from '../../shell/links.ts';
import { lastChanges } from './card-footer.tsx';
import { CodeButton } from './code-snippets.tsx';
import { EnvironmentCard } from './environment-card.tsx';
import { EvaluateBox } from './evaluate-box.tsx';
import { ArchivedNotice, FlagActions } from './flag-actions.tsx';
import { FlagDetails } from './flag-details.tsx';
import { FlagHistory } from './flag-history.tsx';
import { PendingSchedules, ScheduleDialog, type ScheduleStart } from './flag-schedules.tsx';
import { messages } from './messages.tsx';

const words = messages.page;

/** One flag: its details, its state in each environment, who gets it, and its history. */
export function FlagPage() {
  const { project: name = '', key = '' } = useParams();
  const project = useProject(name);
  const flag = useFlag(name, key);
  const history = useAudit({ project: name, target: key, action: 'flag' }, { pageSize: 20 });
  useEffect(() => {
    // The fields are there until it is loaded, and if it cannot be.
    void import('./code-editor.tsx').catch(() => undefined);
  }, []);
  if (isRefusal(flag.error, 'flag_not_found')) return <MissingFlag project={name} flagKey={key} />;
  const error = flag.error ?? project.error;
  const isShown = flag.data !== undefined && project.data !== undefined;
  // Another project may have a flag with the same key: a draft for one must not reach the other.
  return (
    <>
      <ReadAhead project={name} />
      {isShown ? (
        <FlagScreen key={`${name}/${key}`} project={project.data} flag={flag.data} history={history} />
      ) : (
        <Page title={`${key} · ${name}`} heading={<span className="font-mono break-all">{key}</span>}>
          {error === null ? <SkeletonRows /> : <Problem error={error} onRetry={() => void flag.refetch()} />}
        </Page>
      )}
    </>
  );
}

/** Reads what parts of the screen show, while the flag itself is on its way. */
function ReadAhead({ project }: { project: string }) {
  useProjectDeliveries(project);
  useSchedules(project);
  useOperators();
  return null;
}

function FlagScreen({
  project,
  flag,
  history,
}: {
  project: ProjectRecord;
  flag: FlagRecord;
  history: ReturnType<typeof useAudit>;
}) {
  const last = lastChanges(history.entries ?? []);
  const [scheduling, setScheduling] = useState<ScheduleStart>();
  const isArchived = flag.archivedAt !== undefined;
  const [only] = useEnvironmentFilter(project.name);
  const environments = only === undefined ? project.environments : [only];
  return (
    <Page
      title={`${flag.key} · ${project.name}`}
      heading={<FlagHeading project={project.name} flag={flag} />}
      actions={
        <>
          {!isArchived && <CodeButton project={project} flag={flag} />}
          <FlagActions project={project} flag={flag} />
        </>
      }
    >
      <FlagDetails project={project.name} flag={flag} last={history.entries?.[0]} />
      <div className="mt-5 grid gap-5 lg:grid-cols-[minmax(0,1fr)_21rem] lg:grid-rows-[auto_1fr]">
        <div className="flex min-w-0 flex-col gap-4">
          {isArchived && <ArchivedNotice project={project} flag={flag} />}
          {environments.map((environment) => (
            <EnvironmentCard
              key={environment.name}
              project={project.name}
              environment={environment}
              flag={flag}
              last={last.get(environment.name)}
              isWholeHistory={history.entries !== undefined && !history.hasOlder}
              onSchedule={(start) => setScheduling({ environment, ...start })}
            />
          ))}
        </div>
        <aside aria-label={words.about} className="flex min-w-0 flex-col gap-4 lg:row-span-2">
          {!isArchived && <EvaluateBox project={project} flag={flag} />}
          <PendingSchedules project={project} flagKey={flag.key} />
        </aside>
        <div className="min-w-0">
          <FlagHistory history={history} project={project} />
        </div>
      </div>
      {scheduling !== undefined && (
        <ScheduleDialog
          project={project.name}
          flag={flag}
          start={scheduling}
          onClose={() => setScheduling(undefined)}
        />
      )}
    </Page>
  );
}

function MissingFlag({ project, flagKey }: { project: string; flagKey: string }) {
  return (
    <Page
      title={`${words.missingTitle} · ${project}`}
      heading={<span className="font-mono break-all">{flagKey}</span>}
    >
      <EmptyState
        title={words.missingTitle}
        action={
          <Link
            href={`${links.flags(project)}?q=${encodeURIComponent(flagKey)}`}
            className="inline-flex h-8 items-center rounded-md bg-accent px-3 font-medium text-accent-ink"
          >
            {words.search}
          </Link>
        }
      >
        {words.missing(project)}
      </EmptyState>
    </Page>
  );
}

/** The flag's key, and a link to the list. */
function FlagHeading({ project, flag }: { project: string; flag: FlagRecord }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-1.5 gap-y-1">
      <Link
        href={links.flags(project)}
        className="text-sm font-normal text-ink-3 hover:text-ink hover:underline"
      >
        {words.flags}
      </Link>
      <span aria-hidden className="text-sm font-normal text-line-strong">
        /
      </span>
      <span className="min-w-0 font-mono text-lg break-all">{flag.key}</span>
      <CopyButton text={flag.key} label={words.copyKey(flag.key)} />
      {flag.archivedAt !== undefined && <Badge kind="over">{words.archived}</Badge>}
    </span>
  );
}
