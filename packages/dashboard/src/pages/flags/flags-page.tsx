import { useEffect } from 'react';
import { useParams } from 'wouter';
import { useFlags } from '../../api/flags.ts';
import { useProject } from '../../api/projects.ts';
import { Problem } from '../../components/problem.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { writeStored } from '../../shell/stored-choice.ts';
import { FlagTable } from './flag-table.tsx';

/** A project's flags: a row for each, a column for each environment. */
export function FlagsPage() {
  const { project: name = '' } = useParams<{ project: string }>();
  const project = useProject(name);
  const flags = useFlags(name);
  useEffect(() => {
    document.title = `Flags of ${name} · Halyard`;
    if (project.data !== undefined) writeStored('project', name);
  }, [name, project.data]);
  const error = project.error ?? flags.error;
  if (error !== null && (project.data === undefined || flags.data === undefined)) {
    const retry = () => void Promise.all([project.refetch(), flags.refetch()]);
    return <Problem error={error} onRetry={retry} />;
  }
  if (project.data === undefined || flags.data === undefined) return <SkeletonRows rows={12} />;
  return <FlagTable project={project.data} flags={flags.data} />;
}
