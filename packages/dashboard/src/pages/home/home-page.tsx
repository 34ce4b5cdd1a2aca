import { Redirect, useSearch } from 'wouter';
import { useProjects } from '../../api/projects.ts';
import type { ProjectSummary } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { readStored } from '../../browser/stored.ts';
import { Page, ScreenSkeleton } from '../../components/page.tsx';
import { Problem } from '../../components/screen-states.tsx';
import { messages } from './messages.ts';
import { ProjectsPage } from './projects-page.tsx';

/** Opens the project that was open last, or the oldest one; shows the list if the address asks for it or it is empty. */
export function HomePage() {
  const { data: projects, error, refetch } = useProjects();
  const wantsList = new URLSearchParams(useSearch()).has('projects');
  if (error !== null && projects === undefined)
    return (
      <Page title={messages.title}>
        <Problem error={error} onRetry={() => void refetch()} />
      </Page>
    );
  if (projects === undefined) return <ScreenSkeleton />;

  const last = readStored('project');
  const project = projects.find(({ name }) => name === last) ?? oldestOf(projects);
  if (project === undefined || wantsList) return <ProjectsPage isEmpty={project === undefined} />;
  return <Redirect to={links.flags(project.name)} replace />;
}

/** On a new server, the project that the start command created, even if others were created before the first visit. */
function oldestOf(projects: readonly ProjectSummary[]): ProjectSummary | undefined {
  return projects.toSorted((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt))[0];
}
