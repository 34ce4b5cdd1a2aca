import { memo, useRef } from 'react';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Checkbox } from '../../components/checkbox.tsx';
import { classNames } from '../../components/class-names.ts';
import { FlagName, LastChange } from './flag-name.tsx';
import { messages } from './messages.ts';
import { StateCell } from './state-cell.tsx';
import { type FlagItemProps, type FlagListProps, OPEN_ROW, useFlagRows } from './windowed-rows.ts';

/** Heights of a card's parts, in pixels: every card of a list is as high as the others. */
const [HEAD_PX, LINE_PX, FOOT_PX, GAP_PX] = [60, 36, 30, 12];

/** The flags on a narrow screen: a card for each. */
export function FlagCards(props: FlagListProps) {
  const { project } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const heightPx = HEAD_PX + LINE_PX * project.environments.length + FOOT_PX + GAP_PX;
  const rows = useFlagRows(scroller, props, { heightPx, topPx: 0 });
  return (
    <div
      ref={scroller}
      className="relative min-h-0 flex-1 overflow-y-auto border-t border-line px-3 pt-3"
      data-scroller
      {...OPEN_ROW}
    >
      <ul aria-label={messages.list.label(project.name)}>
        <li aria-hidden style={{ height: rows.before }} />
        {rows.items.map((item) => (
          <FlagCard key={item.flag.key} {...item} />
        ))}
        <li aria-hidden style={{ height: rows.after }} />
      </ul>
    </div>
  );
}

/** One flag with its states, on a narrow screen: a line for each environment. */
const FlagCard = memo(function FlagCard(props: FlagItemProps) {
  const { project, flag, index, heightPx, isSelected, isMarked, onToggle } = props;
  return (
    <li
      style={{ height: heightPx }}
      data-row={index}
      data-flag={flag.key}
      data-chosen={isSelected || undefined}
      data-marked={isMarked || undefined}
      className="group"
    >
      <article
        aria-label={flag.key}
        className={classNames(
          'flex cursor-pointer flex-col rounded-lg border border-line bg-surface',
          isMarked && 'animate-flash',
        )}
        style={{ height: heightPx - GAP_PX }}
      >
        <div className="flex items-center gap-1 px-3" style={{ height: HEAD_PX - 1 }}>
          <div className="min-w-0 flex-1">
            <FlagName project={project.name} flag={flag} hasDescription />
          </div>
          {onToggle && (
            <span className="-m-2 flex cursor-default p-2" data-control>
              <Checkbox
                label={messages.list.select(flag.key)}
                isChecked={isSelected}
                onChange={() => onToggle(flag.key)}
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
