import { useEnvironments } from '../api/projects.ts';
import type { EnvironmentRecord } from '../api/types.ts';
import { useStored } from '../browser/stored.ts';
import { messages } from './messages.ts';
import { Select } from './select.tsx';

/**
 * The environment that all screens of a project are limited to, and a function to select another (`''`: all). It
 * outlives the page. `undefined` without one, and after that environment was deleted.
 */
export function useEnvironmentFilter(
  project: string,
): readonly [EnvironmentRecord | undefined, (name: string) => void] {
  const [name, select] = useStored(`environment.${project}`);
  return [useEnvironments(project).find((each) => each.name === name), select];
}

/** Shows the environment that the screens are limited to, and selects another. */
export function EnvironmentFilter({ project }: { project: string }) {
  const environments = useEnvironments(project);
  const [environment, select] = useEnvironmentFilter(project);
  if (environments.length < 2) return null;
  return (
    <Select
      kind="filter"
      label={messages.environmentFilter}
      className="max-w-44 max-sm:max-w-38"
      value={environment?.name ?? ''}
      onSelect={select}
      none={messages.allEnvironments}
      choices={environments.map(({ name }) => name)}
    />
  );
}
