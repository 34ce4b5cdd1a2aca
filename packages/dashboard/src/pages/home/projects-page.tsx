import Plus from 'lucide-react/icons/plus';
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useCan } from '../../api/session.ts';
import type { ProjectSummary } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { INPUT } from '../../components/field.tsx';
import { Page } from '../../components/page.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { links } from '../../shell/links.ts';
import { CreateProjectDialog } from './create-project-dialog.tsx';

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
