import { NAME_PATTERN } from '@halyard/protocol';
import Plus from 'lucide-react/icons/plus';
import { type FormEvent, useState } from 'react';
import { Link, Redirect, useLocation, useSearch } from 'wouter';
import { messageOf } from '../../api/api-error.ts';
import { useCreateProject, useProjects } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import type { ProjectSummary } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { Field, INPUT } from '../../components/field.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { links } from '../../shell/links.ts';
import { readStored } from '../../shell/preferences.ts';

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

/** With fewer there is nothing to search. */
const WORTH_SEARCHING = 8;

/** Every project. */
export function ProjectsPage({ projects }: { projects: readonly ProjectSummary[] }) {
  const search = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const [query, setQuery] = useState('');
  const canCreate = useCan('admin');
  const found = projects.filter(({ name }) => name.includes(query.trim().toLowerCase()));
  const create = canCreate && (
    <Button kind="primary" onClick={() => navigate('/?projects&new')}>
      <Plus size={15} aria-hidden /> New project
    </Button>
  );
  return (
    <Page title="Projects" actions={projects.length > 0 && create}>
      {projects.length === 0 ? (
        <EmptyState title="Make your first project" action={create}>
          A project holds the flags of one product. It comes with the environments development, staging and
          production.
        </EmptyState>
      ) : (
        <>
          {projects.length >= WORTH_SEARCHING && (
            <input
              type="search"
              aria-label="Search projects"
              placeholder="Search projects"
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
          {found.length === 0 && (
            <p className="py-8 text-center text-ink-2">No project has “{query}” in its name.</p>
          )}
        </>
      )}
      {canCreate && search.has('new') && <CreateProjectDialog onClose={() => navigate('/?projects')} />}
    </Page>
  );
}

/** Asks for the name of a new project. */
function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [, navigate] = useLocation();
  const create = useCreateProject();
  const isAcceptable = NAME_PATTERN.test(name);
  const refusal = create.error ? messageOf(create.error) : undefined;
  const error =
    name !== '' && !isAcceptable
      ? 'Use lower-case letters, digits and "-", beginning with a letter or digit.'
      : refusal;
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (isAcceptable) create.mutate(name, { onSuccess: () => navigate(links.flags(name)) });
  }
  return (
    <Dialog title="New project" onClose={onClose}>
      <form onSubmit={submit}>
        <Field label="Name" hint="It stands in addresses and cannot be changed later." error={error}>
          {(props) => (
            <input
              {...props}
              data-autofocus
              autoComplete="off"
              spellCheck={false}
              maxLength={64}
              placeholder="shop"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={!isAcceptable || create.isPending}>
            Create the project
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
