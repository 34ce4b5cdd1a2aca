import { useEnvironments } from '../api/projects.ts';
import type { EnvironmentRecord } from '../api/types.ts';
import { Select } from '../components/select.tsx';
import { messages } from './messages.ts';
import { useStored } from './stored.ts';

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
      label={messages.header.environment}
      className="max-w-44 max-sm:max-w-38"
      value={environment?.name ?? ''}
      onSelect={select}
      none={messages.header.allEnvironments}
      choices={environments.map(({ name }) => name)}
    />
  );
}
