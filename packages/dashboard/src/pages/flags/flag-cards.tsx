import { memo, type ReactNode, useRef } from 'react';
import { Link } from 'wouter';
import type { EnvironmentRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { useMedia } from '../../browser/use-media.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Checkbox } from '../../components/checkbox.tsx';
import { classNames } from '../../components/class-names.ts';
import { FlagName, LastChange, LastRead } from './flag-name.tsx';
import { messages } from './messages.ts';
import { StateCell } from './state-cell.tsx';
import {
  type FlagItemProps,
  type FlagListProps,
  OPEN_ROW,
  type RowSizes,
  rowMarks,
  useFlagRows,
} from './windowed-rows.ts';

/** Heights of a card's parts, in pixels: every card of a list is as high as the others. */
const [HEAD_PX, LINE_PX, FOOT_PX, GAP_PX] = [60, 36, 30, 12];

/** How many environments a card shows; the flag's page has the others. */
const MOST = 8;

/** The flags on a narrow screen: a card for each, or two lines in a list of one environment. */
export function FlagCards(props: FlagListProps) {
  const [first, ...others] = props.columns.environments;
  return first !== undefined && others.length === 0 ? (
    <FlagLines {...props} environment={first} />
  ) : (
    <Cards {...props} />
  );
}

interface CardProps extends FlagItemProps {
  /** How many flags the list has, drawn or not. */
  readonly count: number;
}

/** What finds a card, and its place in the whole list. */
function cardMarks(props: CardProps) {
  return { ...rowMarks(props), 'aria-setsize': props.count, 'aria-posinset': props.index + 1 };
}

/** Heights of the list of one environment, in pixels: its head, and each flag. */
const [ONE_HEAD_PX, ONE_PX] = [32, 68];

/** The flags in one environment: their key, and below it their state. */
function FlagLines({ environment, ...list }: FlagListProps & { environment: EnvironmentRecord }) {
  return (
    <NarrowList
      list={list}
      sizes={{ heightPx: ONE_PX, topPx: ONE_HEAD_PX, columns: 1 }}
      className="bg-surface"
      head={
        <div
          className="sticky top-0 z-10 flex items-center border-b border-line bg-bg px-4"
          style={{ height: ONE_HEAD_PX }}
        >
          <EnvironmentBadge environment={environment} fit="cut" className="text-xs text-ink-2" />
        </div>
      }
    >
      {(item) => (
        <FlagLine key={item.flag.key} {...item} count={list.flags.length} environment={environment} />
      )}
    </NarrowList>
  );
}

/** One flag in one environment. */
const FlagLine = memo(function FlagLine(props: CardProps & { environment: EnvironmentRecord }) {
  const { project, flag, heightPx, isSelected, isMarked, onToggle, environment } = props;

  return (
    <li
      style={{ height: heightPx }}
      {...cardMarks(props)}
      className={classNames(
        'group flex cursor-pointer items-center gap-3 border-b border-line px-4',
        isSelected && 'bg-accent-soft',
        isMarked && 'animate-flash',
      )}
    >
      <article aria-label={flag.key} className="flex min-w-0 flex-1 flex-col gap-1" data-column={0}>
        <FlagName {...props} hasDescription={false} hasCopy={false} />
        <StateCell
          project={project}
          environment={environment}
          flagKey={flag.key}
          record={flag.environments[environment.name]}
          isArchived={flag.archivedAt !== undefined}
        />
      </article>
      <SelectFlag flag={flag.key} isSelected={isSelected} onToggle={onToggle} />
    </li>
  );
});

function SelectFlag({
  flag,
  isSelected,
  onToggle,
}: Pick<FlagItemProps, 'isSelected' | 'onToggle'> & { flag: string }) {
  if (onToggle === undefined) return null;
  return (
    <span className="-m-2 flex cursor-default p-2" data-control>
      <Checkbox
        label={messages.list.select(flag)}
        isChecked={isSelected}
        onChange={(isRange) => onToggle(flag, isRange)}
      />
    </span>
  );
}

/** Where two environments share a line of a card, as on a phone that is held sideways. */
const WIDE = '(min-width: 48rem)';

/** A card for each flag, with its environments in one column or two. */
function Cards(list: FlagListProps) {
  const { environments } = list.columns;
  const isWide = useMedia(WIDE);
  // Hiding a single one would save no space.
  const shown = environments.length > MOST + 1 ? MOST : environments.length;
  const lines = Math.ceil(shown / (isWide ? 2 : 1)) + (shown < environments.length ? 1 : 0);
  const heightPx = HEAD_PX + LINE_PX * lines + FOOT_PX + GAP_PX;

  return (
    <NarrowList list={list} sizes={{ heightPx, topPx: 0, columns: shown }} className="px-4 pt-3">
      {(item) => (
        <FlagCard
          key={item.flag.key}
          {...item}
          count={list.flags.length}
          environments={environments}
          shown={shown}
        />
      )}
    </NarrowList>
  );
}

/** The flags in view of a list that scrolls across the whole width. */
function NarrowList({
  list,
  sizes,
  className,
  head,
  children: draw,
}: {
  list: FlagListProps;
  sizes: RowSizes;
  className: string;
  head?: ReactNode;
  children: (item: FlagItemProps) => ReactNode;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useFlagRows(scroller, list, sizes);

  return (
    <div
      ref={scroller}
      className={classNames(
        'relative -mx-4 min-h-0 flex-1 overflow-y-auto border-t border-line short:overflow-visible',
        className,
      )}
      data-scroller
      {...OPEN_ROW}
    >
      {head}
      <ul aria-label={messages.list.label(list.project.name)}>
        <li aria-hidden style={{ height: rows.before }} />
        {rows.items.map(draw)}
        <li aria-hidden style={{ height: rows.after }} />
      </ul>
    </div>
  );
}

/** One flag with its states. */
const FlagCard = memo(function FlagCard(
  props: CardProps & { environments: readonly EnvironmentRecord[]; shown: number },
) {
  const { project, flag, heightPx, isSelected, isMarked, onToggle, environments, shown } = props;

  return (
    <li style={{ height: heightPx }} {...cardMarks(props)} className="group">
      <article
        aria-label={flag.key}
        className={classNames(
          'flex cursor-pointer flex-col rounded-lg border border-line',
          isSelected ? 'bg-accent-soft' : 'bg-surface',
          isMarked && 'animate-flash',
        )}
        style={{ height: heightPx - GAP_PX }}
      >
        <div className="flex items-center gap-1 px-3" style={{ height: HEAD_PX - 1 }}>
          <div className="min-w-0 flex-1">
            <FlagName {...props} hasDescription />
          </div>
          <SelectFlag flag={flag.key} isSelected={isSelected} onToggle={onToggle} />
        </div>

        <div className="grid grid-cols-1 md:grid-cols-2">
          {environments.slice(0, shown).map((environment, column) => (
            <div
              key={environment.name}
              className="flex min-w-0 items-center gap-3 border-t border-line px-3 md:even:border-l md:last:odd:col-span-2"
              style={{ height: LINE_PX }}
              data-column={column}
            >
              <EnvironmentBadge
                environment={environment}
                fit="cut"
                className="w-36 shrink-0 text-xs text-ink-2"
              />
              <StateCell
                // The mark of a change, beside it, stays clear of the border.
                className="mr-2 flex-1"
                project={project}
                environment={environment}
                flagKey={flag.key}
                record={flag.environments[environment.name]}
                isArchived={flag.archivedAt !== undefined}
              />
            </div>
          ))}
        </div>

        {shown < environments.length && (
          <Link
            href={links.flag(project, flag.key)}
            className="flex items-center border-t border-line px-3 text-xs text-accent"
            style={{ height: LINE_PX }}
          >
            {messages.list.moreEnvironments(environments.length - shown)}
          </Link>
        )}

        <div
          className="flex items-center justify-between gap-2 border-t border-line px-3"
          style={{ height: FOOT_PX }}
        >
          <LastChange flag={flag} className="gap-1" />
          <LastRead flag={flag.key} label={messages.list.readAt} />
        </div>
      </article>
    </li>
  );
});
