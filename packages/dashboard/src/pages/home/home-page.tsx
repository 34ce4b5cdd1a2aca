import { NAME_PATTERN } from '@halyard/protocol';
import { useState } from 'react';
import { Link, Redirect, useLocation, useSearch } from 'wouter';
import { useCreateProject, useProjects } from '../../api/projects.ts';
import { useCanEverywhere, useOperator } from '../../api/session.ts';
import type { ProjectSummary } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { readStored } from '../../browser/stored.ts';
import { CreateButton } from '../../components/button.tsx';
import { INPUT, PlaceNameField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { Page, ScreenSkeleton } from '../../components/page.tsx';
import { EmptyState, Problem } from '../../components/screen-states.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { messages } from './messages.ts';

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
  if (project === undefined || wantsList) return <ProjectsPage projects={projects} />;
  return <Redirect to={links.flags(project.name)} replace />;
}

/** On a new server, the project that the start command created, even if others were created before the first visit. */
function oldestOf(projects: readonly ProjectSummary[]): ProjectSummary | undefined {
  return projects.toSorted((one, other) => Date.parse(one.createdAt) - Date.parse(other.createdAt))[0];
}

/** Shorter lists need no search. */
const WORTH_SEARCHING = 8;

/** Every project. */
function ProjectsPage({ projects }: { projects: readonly ProjectSummary[] }) {
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const [query, setQuery] = useState('');
  const canCreate = useCanEverywhere('admin');
  const { role } = useOperator();
  const found = projects.filter(({ name }) => name.includes(query.trim().toLowerCase()));
  const create = canCreate && (
    <CreateButton onClick={() => navigate(`${links.projects}&new=project`)}>{messages.create}</CreateButton>
  );

  return (
    <Page title={messages.title} actions={projects.length > 0 && create}>
      {projects.length === 0 ? (
        <EmptyState title={role === 'none' ? messages.noRoleTitle : messages.emptyTitle} action={create}>
          {role === 'none' ? messages.noRole : messages.empty}
        </EmptyState>
      ) : (
        <>
          {projects.length >= WORTH_SEARCHING && (
            <input
              type="search"
              aria-label={messages.search}
              placeholder={messages.search}
              className={`${INPUT} mb-3 max-w-xs`}
              value={query}
              onChange={(event) => setQuery(event.target.value)}
            />
          )}
          <ul className="divide-y divide-line rounded-lg border border-line bg-surface">
            {found.map(({ name, createdAt }) => (
              <li key={name}>
                <Link
                  href={links.flags(name)}
                  className="flex h-12 items-center justify-between gap-4 px-4 hover:bg-hover"
                >
                  <span className="truncate font-medium">{name}</span>
                  <TimeAgo at={createdAt} className="shrink-0 text-xs text-ink-3" />
                </Link>
              </li>
            ))}
          </ul>
          {found.length === 0 && <p className="py-8 text-center text-ink-2">{messages.noMatches(query)}</p>}
        </>
      )}
      {canCreate && search.has('new') && <CreateProjectDialog onClose={() => navigate(links.projects)} />}
    </Page>
  );
}

/** Asks for the name of a new project. */
function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [, navigate] = useLocation();
  const create = useCreateProject();
  const invalid = NAME_PATTERN.test(name) ? undefined : messages.nameInvalid;
  const form = useForm({
    problems: { name: name === '' ? messages.nameMissing : invalid },
    submit: async () => {
      await create.mutateAsync(name);
      navigate(links.flags(name));
    },
  });

  return (
    <FormDialog title={messages.create} form={form} action={messages.createAction} onClose={onClose}>
      <PlaceNameField
        texts={messages}
        error={name === '' ? form.problem('name') : invalid}
        value={name}
        onChange={setName}
      />
    </FormDialog>
  );
}
