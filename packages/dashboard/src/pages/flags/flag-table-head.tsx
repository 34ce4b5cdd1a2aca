import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { ENVIRONMENT_FILL, EnvironmentBadge } from '../../components/environment-badge.tsx';
import { SelectBox } from './select-box.tsx';
import type { Selection } from './use-selection.ts';

/** The heads of the columns; they stay when the rows scroll. */
export function FlagTableHead({
  project,
  flags,
  selection,
  heightPx,
}: {
  project: ProjectRecord;
  flags: readonly FlagRecord[];
  selection: Selection | undefined;
  heightPx: number;
}) {
  const cell = 'border-b border-line bg-surface px-3 text-xs font-medium';
  return (
    <thead className="sticky top-0 z-20">
      <tr style={{ height: heightPx }} aria-rowindex={1}>
        {selection && (
          <td className={`${cell} sticky left-0 z-10 pr-0`}>
            <SelectBox
              label="Choose all that are listed"
              isChosen={flags.length > 0 && flags.every(({ key }) => selection.keys.has(key))}
              onChange={() => selection.toggleAll(flags.map(({ key }) => key))}
            />
          </td>
        )}
        <th scope="col" className={`${cell} sticky z-10 text-ink-3 ${selection ? 'left-11' : 'left-0'}`}>
          Flag
        </th>
        {project.environments.map((environment) => (
          <th key={environment.name} scope="col" className={`${cell} relative`}>
            <span
              aria-hidden
              className={`absolute inset-x-0 top-0 h-0.5 ${ENVIRONMENT_FILL[environment.color]}`}
            />
            <EnvironmentBadge environment={environment} className="max-w-full" />
          </th>
        ))}
        <th scope="col" className={`${cell} text-right text-ink-3`}>
          Changed
        </th>
      </tr>
    </thead>
  );
}
