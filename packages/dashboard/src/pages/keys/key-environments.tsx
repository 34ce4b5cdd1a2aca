import type { ProjectRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';

/** As many are shown at once; the others when they are asked for. */
const MOST = 4;

/** The environments that a key opens; one that is gone is named all the same. */
export function KeyEnvironments({ project, names }: { project: ProjectRecord; names: readonly string[] }) {
  // One more than fit is no reason to hide it.
  const shown = names.length > MOST + 1 ? MOST : names.length;
  return (
    <>
      <List project={project} names={names.slice(0, shown)} />
      {shown < names.length && (
        <details>
          <summary className="flex min-h-6 w-fit cursor-pointer items-center text-accent">
            and {names.length - shown} more
          </summary>
          <List project={project} names={names.slice(shown)} />
        </details>
      )}
    </>
  );
}

function List({ project, names }: { project: ProjectRecord; names: readonly string[] }) {
  return (
    <ul className="flex flex-wrap gap-x-3 gap-y-0.5">
      {names.map((name) => {
        const environment = project.environments.find((each) => each.name === name);
        return (
          <li key={name} className="max-w-full">
            {environment === undefined ? (
              <span className="text-ink-3">{name} (deleted)</span>
            ) : (
              <EnvironmentBadge environment={environment} className="max-w-full" />
            )}
          </li>
        );
      })}
    </ul>
  );
}
