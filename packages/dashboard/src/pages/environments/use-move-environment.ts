import { useQueryClient } from '@tanstack/react-query';
import { updateEnvironment } from '../../api/environments.ts';
import { queryKeys } from '../../api/query-keys.ts';
import type { EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
import { useDeed } from '../../changes/use-deed.tsx';

/**
 * Moves an environment to another place among its project's. Shown at once, and taken back when it is refused. Places
 * are numbered from 0 without gaps, so that those that shared one get one each.
 */
export function useMoveEnvironment(
  project: ProjectRecord,
): (environment: EnvironmentRecord, index: number) => void {
  const queries = useQueryClient();
  const deed = useDeed();
  const queryKey = queryKeys.project(project.name);
  return (environment, index) => {
    const others = project.environments.filter(({ name }) => name !== environment.name);
    const order = others.toSpliced(index, 0, environment);
    const moved = order.flatMap(({ name, position }, place) => (position === place ? [] : [{ name, place }]));
    // An answer that is on its way knows the old order.
    void queries.cancelQueries({ queryKey });
    queries.setQueryData<ProjectRecord>(queryKey, {
      ...project,
      environments: order.map((each, position) => ({ ...each, position })),
    });
    void deed({
      run: async () => {
        for (const { name, place } of moved) await updateEnvironment(project.name, name, { position: place });
      },
      done: `${environment.name} is number ${index + 1} of ${order.length}`,
      failed: `${environment.name} was not moved`,
      stale: [queryKey],
    });
  };
}
