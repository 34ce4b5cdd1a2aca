import { memo, type RefObject, useRef } from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { ENVIRONMENT_FILL, EnvironmentBadge } from '../../components/badges.tsx';
import { SelectBox } from '../../components/checkbox.tsx';
import { classNames } from '../../components/class-names.ts';
import type { Selection } from './bulk-bar.tsx';
import { FlagName, LastChange } from './flag-name.tsx';
import { StateCell } from './state-cell.tsx';
import { OPEN_ROW, useRowKeys, useWindowedRows } from './windowed-rows.ts';

/** What a list of flags is drawn from. */
export interface FlagListProps {
  readonly project: ProjectRecord;
  readonly flags: readonly FlagRecord[];
  readonly density: 'comfortable' | 'compact';
  /** `undefined` where nothing can be done to many. */
  readonly selection: Selection | undefined;
  readonly scroller?: RefObject<HTMLElement | null>;
}

const HEAD_PX = 36;
const ROW_PX = { comfortable: 54, compact: 38 } as const;

/** A row for each flag, a column for each environment. */
export function FlagTable({ project, flags, density, selection }: FlagListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const list = { count: flags.length, heightPx: ROW_PX[density], topPx: HEAD_PX };
  const rows = useWindowedRows(scroller, list);
  useRowKeys(scroller, list);
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
        aria-label={`Flags of ${project.name}`}
      >
        <colgroup>
          {selection && <col style={{ width: 44 }} />}
          <col style={{ width: columns > 4 ? 'clamp(18rem, 22vw, 26rem)' : '32%' }} />
          {project.environments.map(({ name }) => (
            <col key={name} />
          ))}
          <col style={{ width: 170 }} />
        </colgroup>
        <FlagTableHead project={project} flags={flags} selection={selection} heightPx={HEAD_PX} />
        <tbody className={classNames(rows.before > 0 && 'scrolled')}>
          <tr aria-hidden style={{ height: rows.before }} />
          {flags.slice(rows.first, rows.end).map((flag, index) => (
            <FlagRow
              key={flag.key}
              project={project}
              flag={flag}
              index={rows.first + index}
              heightPx={list.heightPx}
              isChosen={selection?.keys.has(flag.key) ?? false}
              onChoose={selection?.toggle}
            />
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
const FlagRow = memo(function FlagRow({ project, flag, index, heightPx, isChosen, onChoose }: FlagItemProps) {
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
