import Folder from 'lucide-react/icons/folder';
import { useLocation, useSearch } from 'wouter';
import { useOverview } from '../../api/projects.ts';
import { useCanEverywhere, useOperator } from '../../api/session.ts';
import type { ProjectOverview } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { STARRED_PROJECTS, starredFirst, useStoredSet } from '../../browser/stored-set.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { CreateButton } from '../../components/button.tsx';
import { SearchField } from '../../components/list-filter.tsx';
import { messages as components } from '../../components/messages.ts';
import { Page } from '../../components/page.tsx';
import { EmptyState, Loaded } from '../../components/screen-states.tsx';
import { sortItems, useSort } from '../../components/sort.ts';
import { RecordTable } from '../../components/tables.tsx';
import { CreateProjectDialog } from './create-project-dialog.tsx';
import { messages } from './messages.ts';
import { ProjectRow } from './project-row.tsx';

/** Shorter lists need no search. */
const WORTH_SEARCHING = 8;

/** The screen "Projects": the figures of each, its last change, and what needs attention. */
export function ProjectsPage({ isEmpty }: { isEmpty: boolean }) {
  const params = new URLSearchParams(useSearch());
  const [, navigate] = useLocation();
  const canCreate = useCanEverywhere('admin');
  const { role } = useOperator();
  const create = canCreate && (
    <CreateButton onClick={() => navigate(`${links.projects}&new=project`)}>{messages.create}</CreateButton>
  );

  return (
    <Page title={messages.title} actions={!isEmpty && create}>
      {isEmpty ? (
        <EmptyState
          icon={Folder}
          title={role === 'none' ? messages.noRoleTitle : messages.emptyTitle}
          action={create}
        >
          {role === 'none' ? messages.noRole : messages.empty}
        </EmptyState>
      ) : (
        <ProjectList />
      )}
      {canCreate && params.has('new') && <CreateProjectDialog onClose={() => navigate(links.projects)} />}
    </Page>
  );
}

function ProjectList() {
  const overview = useOverview();
  const [search, setSearch] = useSearchState();
  const [starred, toggleStar] = useStoredSet(STARRED_PROJECTS);
  const sort = useSort();
  const query = search.get('q') ?? '';
  const text = query.trim().toLowerCase();

  return (
    <Loaded reading={overview} rows={4}>
      {(projects) => {
        const found = projects.filter(({ name }) => name.includes(text));
        const isLong = projects.length >= WORTH_SEARCHING || query !== '';

        return (
          <>
            {isLong && (
              <search className="mb-3 flex flex-wrap items-center gap-2">
                <SearchField
                  label={messages.search}
                  className="max-w-80 flex-1 basis-56"
                  value={query}
                  onChange={(q) => setSearch({ q })}
                />
                {query !== '' && (
                  <span role="status" className="text-ink-2">
                    {components.found(found.length, projects.length)}
                  </span>
                )}
              </search>
            )}

            {found.length === 0 ? (
              <p className="py-8 text-center text-ink-2">{messages.noMatches(query)}</p>
            ) : (
              <RecordTable label={messages.title} columns={messages.columns} sort={sort}>
                {sortItems(starredFirst(failingFirst(found), starred), sort, memberOf).map((project) => (
                  <ProjectRow
                    key={project.name}
                    project={project}
                    isStarred={starred.has(project.name)}
                    onStar={toggleStar}
                  />
                ))}
              </RecordTable>
            )}
          </>
        );
      }}
    </Loaded>
  );
}

/** Projects whose webhooks fail come before the others. */
function failingFirst(projects: readonly ProjectOverview[]): readonly ProjectOverview[] {
  return projects.toSorted(
    (one, other) => Number((other.failingWebhooks ?? 0) > 0) - Number((one.failingWebhooks ?? 0) > 0),
  );
}

/** What the list is sorted by; for attention, what fails weighs most. */
function memberOf(project: ProjectOverview, by: string): unknown {
  if (by === 'changed') return -Date.parse(project.lastChange?.at ?? project.createdAt);
  const { failingWebhooks = 0, waitingProposals, runningPlans } = project;
  if (by === 'attention') return -(failingWebhooks * 1e8 + waitingProposals * 1e4 + runningPlans);
  // Any other text in the address is no member, and leaves the order as it is.
  return project[by as 'name' | 'flags' | 'environments' | 'streams'];
}
