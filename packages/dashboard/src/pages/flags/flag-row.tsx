import { memo } from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { classNames } from '../../components/class-names.ts';
import { FlagName } from './flag-name.tsx';
import { LastChange } from './last-change.tsx';
import { SelectBox } from './select-box.tsx';
import { StateCell } from './state-cell.tsx';

/** What a row or card of the list is drawn from. */
export interface FlagItemProps {
  readonly project: ProjectRecord;
  readonly flag: FlagRecord;
  /** Its place among the rows, from 0. */
  readonly index: number;
  readonly heightPx: number;
  readonly isChosen: boolean;
  /** `undefined` where nothing can be done to many. */
  readonly onChoose: ((key: string) => void) | undefined;
}

/** One flag with its states. Drawn again only when its own record changes. */
export const FlagRow = memo(function FlagRow({
  project,
  flag,
  index,
  heightPx,
  isChosen,
  onChoose,
}: FlagItemProps) {
  const isArchived = flag.archivedAt !== undefined;
  return (
    <tr
      className={classNames(
        'group cursor-pointer',
        isChosen ? 'bg-accent-soft' : 'bg-surface hover:bg-hover',
      )}
      style={{ height: heightPx }}
      aria-rowindex={index + 2}
      data-row={index}
      data-flag={flag.key}
      data-chosen={isChosen || undefined}
    >
      {onChoose && (
        <td className="sticky left-0 z-10 cursor-default border-b border-line bg-inherit pl-3" data-control>
          <SelectBox label={`Choose ${flag.key}`} isChosen={isChosen} onChange={() => onChoose(flag.key)} />
        </td>
      )}
      <th
        scope="row"
        className={classNames(
          'sticky z-10 max-w-0 border-b border-line bg-inherit px-3 font-normal',
          onChoose ? 'left-11' : 'left-0',
        )}
      >
        <FlagName project={project.name} flag={flag} hasDescription={heightPx > 44} />
      </th>
      {project.environments.map((environment, column) => (
        <td key={environment.name} className="max-w-0 border-b border-line px-3" data-column={column}>
          <StateCell
            project={project.name}
            environment={environment}
            flagKey={flag.key}
            record={flag.environments[environment.name]}
            isArchived={isArchived}
          />
        </td>
      ))}
      <td className="max-w-0 border-b border-line px-3 text-right">
        <LastChange flag={flag} className="flex-col items-end leading-4" />
      </td>
    </tr>
  );
});
