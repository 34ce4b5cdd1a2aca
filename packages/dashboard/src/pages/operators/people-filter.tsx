import { useProjects } from '../../api/projects.ts';
import type { OperatorRecord } from '../../api/types.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { Button } from '../../components/button.tsx';
import { SearchField } from '../../components/list-filter.tsx';
import { Select } from '../../components/select.tsx';
import { messages } from './messages.tsx';

/** A list this short needs no filter. */
const WORTH_FILTERING = 6;

/** Finds people by name or e-mail (`q` in the address), and by a project that they can see (`project`). */
export function PeopleFilter({ shown, total }: { shown: number; total: number }) {
  const [search, setSearch] = useSearchState();
  const { data: projects = [] } = useProjects();
  const [query, project] = [search.get('q') ?? '', search.get('project') ?? ''];
  const isFiltered = query !== '' || project !== '';
  if (total < WORTH_FILTERING && !isFiltered) return null;

  return (
    <search className="mb-3 flex flex-wrap items-center gap-2">
      <SearchField
        label={messages.find}
        className="max-w-80 flex-1 basis-56"
        value={query}
        onChange={(text) => setSearch({ q: text })}
      />
      {projects.length > 1 && (
        <Select
          kind="filter"
          label={messages.withProject}
          value={project}
          none={messages.anyProject}
          choices={projects.map(({ name }) => name)}
          onSelect={(name) => setSearch({ project: name })}
        />
      )}
      {isFiltered && (
        <>
          <span role="status" className="text-ink-2">
            {shown === 0 ? messages.nobody : messages.found(shown, total)}
          </span>
          <Button kind="quiet" onClick={() => setSearch({ q: '', project: '' })}>
            {messages.clear}
          </Button>
        </>
      )}
    </search>
  );
}

/** The people whom the address asks for. */
export function useFoundPeople(): (people: readonly OperatorRecord[]) => readonly OperatorRecord[] {
  const [search] = useSearchState();
  const words = (search.get('q') ?? '').toLowerCase().split(/\s+/);
  const project = search.get('project') ?? '';
  return (people) =>
    people.filter(({ name, email, role, projects = [] }) => {
      const text = `${name} ${email}`.toLowerCase();
      const isThere = project === '' || role !== 'none' || projects.some((each) => each.project === project);
      return isThere && words.every((word) => text.includes(word));
    });
}
