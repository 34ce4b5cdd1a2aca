import { memo, useRef } from 'react';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { SelectBox } from '../../components/checkbox.tsx';
import { FlagName, LastChange } from './flag-name.tsx';
import type { FlagItemProps, FlagListProps } from './flag-table.tsx';
import { StateCell } from './state-cell.tsx';
import { OPEN_ROW, useRowKeys, useWindowedRows } from './windowed-rows.ts';

/** The flags on a narrow screen: a card for each. */
export function FlagCards({ project, flags, selection }: FlagListProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const list = { count: flags.length, heightPx: cardHeight(project.environments.length), topPx: 0 };
  const rows = useWindowedRows(scroller, list);
  useRowKeys(scroller, list);
  return (
    <div
      ref={scroller}
      className="relative min-h-0 flex-1 overflow-y-auto border-t border-line px-3 pt-3"
      data-scroller
      {...OPEN_ROW}
    >
      <ul aria-label={`Flags of ${project.name}`}>
        <li aria-hidden style={{ height: rows.before }} />
        {flags.slice(rows.first, rows.end).map((flag, index) => (
          <FlagCard
            key={flag.key}
            project={project}
            flag={flag}
            index={rows.first + index}
            heightPx={list.heightPx}
            isChosen={selection?.keys.has(flag.key) ?? false}
            onChoose={selection?.toggle}
          />
        ))}
        <li aria-hidden style={{ height: rows.after }} />
      </ul>
    </div>
  );
}

/** Heights of a card's parts, in pixels: every card of a list is as high as the others. */
const [HEAD_PX, LINE_PX, FOOT_PX, GAP_PX] = [60, 36, 30, 12];

/** How high a card is, with the gap below it. */
function cardHeight(environments: number): number {
  return HEAD_PX + LINE_PX * environments + FOOT_PX + GAP_PX;
}

/** One flag with its states, on a narrow screen: a line for each environment. */
const FlagCard = memo(function FlagCard({
  project,
  flag,
  index,
  heightPx,
  isChosen,
  onChoose,
}: FlagItemProps) {
  return (
    <li
      style={{ height: heightPx }}
      data-row={index}
      data-flag={flag.key}
      data-chosen={isChosen || undefined}
      className="group"
    >
      <article
        aria-label={flag.key}
        className="flex cursor-pointer flex-col rounded-lg border border-line bg-surface"
        style={{ height: heightPx - GAP_PX }}
      >
        <div className="flex items-center gap-1 px-3" style={{ height: HEAD_PX - 1 }}>
          <div className="min-w-0 flex-1">
            <FlagName project={project.name} flag={flag} hasDescription />
          </div>
          {onChoose && (
            <span className="-m-2 flex cursor-default p-2" data-control>
              <SelectBox
                label={`Choose ${flag.key}`}
                isChosen={isChosen}
                onChange={() => onChoose(flag.key)}
              />
            </span>
          )}
        </div>
        {project.environments.map((environment, column) => (
          <div
            key={environment.name}
            className="flex items-center gap-3 border-t border-line px-3"
            style={{ height: LINE_PX }}
            data-column={column}
          >
            <EnvironmentBadge environment={environment} className="w-28 shrink-0 text-xs text-ink-2" />
            <StateCell
              className="flex-1"
              project={project.name}
              environment={environment}
              flagKey={flag.key}
              record={flag.environments[environment.name]}
              isArchived={flag.archivedAt !== undefined}
            />
          </div>
        ))}
        <div className="flex items-center border-t border-line px-3" style={{ height: FOOT_PX }}>
          <LastChange flag={flag} className="gap-1" />
        </div>
      </article>
    </li>
  );
});
