import { memo, useRef } from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { ENVIRONMENT_FILL, EnvironmentBadge } from '../../components/badges.tsx';
import { Checkbox } from '../../components/checkbox.tsx';
import { classNames } from '../../components/class-names.ts';
import type { Selection } from './bulk-bar.tsx';
import { FlagName, LastChange } from './flag-name.tsx';
import { messages } from './messages.ts';
import { StateCell } from './state-cell.tsx';
import { type FlagItemProps, type FlagListProps, OPEN_ROW, useFlagRows } from './windowed-rows.ts';

const HEAD_PX = 36;
const ROW_PX = { comfortable: 54, compact: 38 } as const;

/** A row for each flag, a column for each environment. */
export function FlagTable(props: FlagListProps) {
  const { project, flags, density, selection } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useFlagRows(scroller, props, { heightPx: ROW_PX[density], topPx: HEAD_PX });
  const columns = project.environments.length;
  return (
    <div
      ref={scroller}
      className="relative min-h-0 flex-1 overflow-auto border-t border-line bg-surface"
      data-scroller
      {...OPEN_ROW}
    >
      <table
        className="w-full table-fixed border-separate border-spacing-0 text-left"
        style={{ minWidth: 510 + columns * 170 }}
        aria-rowcount={flags.length + 1}
        aria-label={messages.list.label(project.name)}
      >
        <colgroup>
          {selection && <col style={{ width: 44 }} />}
          <col style={{ width: columns > 4 ? 'clamp(18rem, 22vw, 26rem)' : '32%' }} />
          {project.environments.map(({ name }) => (
            <col key={name} />
          ))}
          <col style={{ width: 170 }} />
        </colgroup>
        <FlagTableHead project={project} flags={flags} selection={selection} />
        <tbody className={classNames(rows.before > 0 && 'scrolled')}>
          <tr aria-hidden style={{ height: rows.before }} />
          {rows.items.map((item) => (
            <FlagRow key={item.flag.key} {...item} />
          ))}
          <tr aria-hidden style={{ height: rows.after }} />
        </tbody>
      </table>
    </div>
  );
}

/** The heads of the columns; they stay when the rows scroll. */
function FlagTableHead({
  project,
  flags,
  selection,
}: {
  project: ProjectRecord;
  flags: readonly FlagRecord[];
  selection: Selection | undefined;
}) {
  const cell = 'border-b border-line bg-surface px-3 text-xs font-medium';
  return (
    <thead className="sticky top-0 z-20">
      <tr style={{ height: HEAD_PX }} aria-rowindex={1}>
        {selection && (
          <td className={`${cell} sticky left-0 z-10 pr-0`}>
            <Checkbox
              label={messages.list.selectAll}
              isChecked={flags.length > 0 && flags.every(({ key }) => selection.keys.has(key))}
              onChange={() => selection.toggleAll(flags.map(({ key }) => key))}
            />
          </td>
        )}
        <th scope="col" className={`${cell} sticky z-10 text-ink-3 ${selection ? 'left-11' : 'left-0'}`}>
          {messages.list.flag}
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
          {messages.list.changed}
        </th>
      </tr>
    </thead>
  );
}

/** One flag with its states. Drawn again only when its own record changes. */
const FlagRow = memo(function FlagRow(props: FlagItemProps) {
  const { project, flag, index, heightPx, isSelected, isMarked, onToggle } = props;
  return (
    <tr
      className={classNames(
        'group cursor-pointer',
        isSelected ? 'bg-accent-soft' : 'bg-surface hover:bg-hover',
        isMarked && 'animate-flash',
      )}
      style={{ height: heightPx }}
      aria-rowindex={index + 2}
      data-row={index}
      data-flag={flag.key}
      data-chosen={isSelected || undefined}
      data-marked={isMarked || undefined}
    >
      {onToggle && (
        <td className="sticky left-0 z-10 cursor-default border-b border-line bg-inherit pl-3" data-control>
          <Checkbox
            label={messages.list.select(flag.key)}
            isChecked={isSelected}
            onChange={() => onToggle(flag.key)}
          />
        </td>
      )}
      <th
        scope="row"
        className={classNames(
          'sticky z-10 max-w-0 border-b border-line bg-inherit px-3 font-normal',
          onToggle ? 'left-11' : 'left-0',
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
            isArchived={flag.archivedAt !== undefined}
          />
        </td>
      ))}
      <td className="max-w-0 border-b border-line px-3 text-right">
        <LastChange flag={flag} className="flex-col items-end leading-4" />
      </td>
    </tr>
  );
});
