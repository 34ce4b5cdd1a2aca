import { useEnvironments } from '../api/projects.ts';
import { useCurrentProject } from '../browser/links.ts';
import { EnvironmentBadge } from './badges.tsx';

/** An environment by its name; only the name where the project has none of that name, and outside of projects. */
export function EnvironmentName({
  name,
  className,
  project,
}: {
  name: string | undefined;
  className?: string;
  /** Default: that of the screen. */
  project?: string;
}) {
  const here = useCurrentProject();
  const environment = useEnvironments(project ?? here ?? '').find((each) => each.name === name);
  return environment === undefined ? (
    name
  ) : (
    <EnvironmentBadge environment={environment} className={className} />
  );
}
