import { useEffect } from 'react';
import { useParams, useSearchParams } from 'wouter';
import { isRefusal } from '../../api/api-error.ts';
import { useArchivedFlags, useFlags } from '../../api/flags.ts';
import { useProject } from '../../api/projects.ts';
import { Page } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { writeStored } from '../../shell/stored-choice.ts';
import { FlagList } from './flag-list.tsx';
import { NoProject } from './no-project.tsx';

/** A project's flags: a row for each, a column for each environment. */
export function FlagsPage() {
  const { project: name = '' } = useParams<{ project: string }>();
  const [params] = useSearchParams();
  const isArchived = params.has('archived');
  const project = useProject(name);
  const active = useFlags(name);
  const archived = useArchivedFlags(name, { enabled: isArchived });
  const flags = isArchived ? archived : active;
  useEffect(() => {
    if (project.data !== undefined) writeStored('project', name);
  }, [name, project.data]);
  const error = project.error ?? flags.error;
  if (error !== null && (project.data === undefined || flags.data === undefined)) {
    const retry = () => void Promise.all([project.refetch(), flags.refetch()]);
    if (isRefusal(error, 'project_not_found')) return <NoProject name={name} />;
    return (
      <Page title="Flags">
        <Problem error={error} onRetry={retry} />
      </Page>
    );
  }
  if (project.data === undefined || flags.data === undefined) return <SkeletonRows rows={12} />;
  return <FlagList key={name} project={project.data} flags={flags.data} />;
}
