import { useProjects } from '../../api/projects.ts';
import type { OperatorRecord } from '../../api/types.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import { ListFilter, useListSearch } from '../../components/list-filter.tsx';
import { messages } from './messages.tsx';

/** Finds people by name or e-mail (`q` in the address), and by a project that they can see (`project`). */
export function PeopleFilter({ shown, total }: { shown: number; total: number }) {
  const { data: projects = [] } = useProjects();
  const select = {
    name: 'project',
    kind: 'filter',
    label: messages.withProject,
    none: messages.anyProject,
    choices: projects.length > 1 ? projects.map(({ name }) => name) : [],
  } as const;

  return <ListFilter label={messages.find} select={select} shown={shown} total={total} />;
}

/** The people among `people` that the filter in the address finds. */
export function useFoundPeople(people: readonly OperatorRecord[]): readonly OperatorRecord[] {
  const [search] = useSearchState();
  const isFound = useListSearch();
  const project = search.get('project') ?? '';

  return people.filter(({ name, email, role, projects = [] }) => {
    const isThere = project === '' || role !== 'none' || projects.some((each) => each.project === project);
    return isThere && isFound(`${name} ${email}`);
  });
}
