import { memo } from 'react';
import { Link } from 'wouter';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { CopyButton } from '../../components/copy-button.tsx';
import { links } from '../../shell/links.ts';
import { StateCell } from './state-cell.tsx';

/** One flag with its states. Drawn again only when its own record changes. */
export const FlagRow = memo(function FlagRow({
  project,
  flag,
  index,
}: {
  project: ProjectRecord;
  flag: FlagRecord;
  index: number;
}) {
  return (
    <tr className="group h-13 hover:bg-hover" aria-rowindex={index + 2} data-flag={flag.key}>
      <th scope="row" className="border-b border-line px-4 font-normal">
        <div className="flex items-center gap-1">
          <Link
            href={links.flag(project.name, flag.key)}
            className="truncate font-mono text-xs hover:underline"
          >
            {flag.key}
          </Link>
          <CopyButton text={flag.key} label={`Copy the key ${flag.key}`} />
        </div>
      </th>
      {project.environments.map((environment) => (
        <td key={environment.name} className="border-b border-line px-3">
          <StateCell
            project={project.name}
            environment={environment}
            flagKey={flag.key}
            record={flag.environments[environment.name]}
          />
        </td>
      ))}
    </tr>
  );
});
