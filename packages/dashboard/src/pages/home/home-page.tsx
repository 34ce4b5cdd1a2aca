import { Redirect, useSearch } from 'wouter';
import { useProjects } from '../../api/projects.ts';
import { Page } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { links } from '../../shell/links.ts';
import { readStored } from '../../shell/stored-choice.ts';
import { ProjectsPage } from './projects-page.tsx';

/** Leads to the project that was last on the screen, or the first; shows the list when asked, or when it is empty. */
export function HomePage() {
  const { data: projects, error, refetch } = useProjects();
  const wantsList = new URLSearchParams(useSearch()).has('projects');
  if (error !== null && projects === undefined)
    return (
      <Page title="Projects">
        <Problem error={error} onRetry={() => void refetch()} />
      </Page>
    );
  if (projects === undefined) return <SkeletonRows />;
  const last = readStored('project');
  const project = projects.find(({ name }) => name === last) ?? projects[0];
  if (project === undefined || wantsList) return <ProjectsPage projects={projects} />;
  return <Redirect to={links.flags(project.name)} replace />;
}
