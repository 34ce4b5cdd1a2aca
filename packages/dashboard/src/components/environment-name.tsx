import { useEnvironments } from '../api/projects.ts';
import { useCurrentProject } from '../browser/links.ts';
import { EnvironmentBadge, type NameFit } from './badges.tsx';

/** An environment by its name; only the name where the project has none of that name, and outside of projects. */
export function EnvironmentName({
  name,
  fit,
  project,
}: {
  name: string | undefined;
  fit?: NameFit;
  /** Default: that of the screen. */
  project?: string;
}) {
  const here = useCurrentProject();
  const environment = useEnvironments(project ?? here ?? '').find((each) => each.name === name);
  return environment === undefined ? name : <EnvironmentBadge environment={environment} fit={fit} />;
}
