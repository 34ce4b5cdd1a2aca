import { memo, type UIEvent, useCallback, useLayoutEffect, useMemo, useRef } from 'react';
import type { EnvironmentRecord } from '../../api/types.ts';
import { ENVIRONMENT_FILL, EnvironmentBadge } from '../../components/badges.tsx';
import { Checkbox } from '../../components/checkbox.tsx';
import { classNames } from '../../components/class-names.ts';
import { useOwnerName } from '../../components/people-picker.tsx';
import { ariaSort, type Sort } from '../../components/sort.ts';
import { SortButton } from '../../components/tables.tsx';
import { useClientWidth, useWindow } from '../../components/windowing.ts';
import type { Columns } from './column-choice.ts';
import { FlagName, LastChange } from './flag-name.tsx';
import { messages } from './messages.ts';
import { StateCell } from './state-cell.tsx';
import { type FlagItemProps, type FlagListProps, OPEN_ROW, useFlagRows } from './windowed-rows.ts';

const HEAD_PX = 36;
const ROW_PX = { comfortable: 54, compact: 38 } as const;

/** The widths of the columns, in pixels. The key has at least 296 of its own, and more in wide windows. */
const WIDTHS = { check: 44, leastKey: 320, mostKey: 560, leastState: 164, owner: 150, changed: 150 } as const;

/** What is drawn of the columns: the pinned ones, and those of the others that are in view. */
interface DrawnColumns {
  readonly pinned: readonly PlacedColumn[];
  readonly others: readonly PlacedColumn[];
  /** The width of the others before and after those that are drawn. */
  readonly before: number;
  readonly after: number;
  readonly hasOwner: boolean;
  readonly hasChange: boolean;
  readonly hasCheck: boolean;
}

interface PlacedColumn {
  readonly environment: EnvironmentRecord;
  /** Its place among the environments, from 0. */
  readonly index: number;
  /** Where a pinned column stays, in pixels; `undefined` if it scrolls. */
  readonly leftPx: number | undefined;
}

/** A row for each flag, a column for each environment. Only what is in view is drawn, in both directions. */
export function FlagTable({ sort, ...props }: FlagListProps & { sort: Sort }) {
  const { project, flags, columns, density, selection } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const { drawn, keyPx, statePx, totalPx, showColumn } = useDrawnColumns(scroller, columns, {
    hasCheck: selection !== undefined,
  });
  const selected = useMemo(() => selectedOf(flags, selection?.keys), [flags, selection?.keys]);
  const latest = useRef(props);
  useLayoutEffect(() => {
    latest.current = props;
  });
  const toggleAll = useCallback(() => {
    const { current } = latest;
    current.selection?.toggleAll(current.flags.map(({ key }) => key));
  }, []);
  const rows = useFlagRows(scroller, props, {
    heightPx: ROW_PX[density],
    topPx: HEAD_PX,
    columns: columns.environments.length,
    showColumn,
  });
  return (
    <div
      ref={scroller}
      className="group/table relative min-h-0 flex-1 overflow-auto rounded-lg border border-line bg-surface"
      data-scroller
      onScroll={markScrolled}
      {...OPEN_ROW}
    >
      <table
        className="table-fixed border-separate border-spacing-0 text-left"
        style={{ width: totalPx }}
        aria-rowcount={flags.length + 1}
        aria-colcount={columnCount(drawn, columns)}
        aria-label={messages.list.label(project.name)}
      >
        <colgroup>
          {drawn.hasCheck && <col style={{ width: WIDTHS.check }} />}
          <col style={{ width: keyPx }} />
          {drawn.pinned.map(({ environment }) => (
            <col key={environment.name} style={{ width: statePx }} />
          ))}
          {drawn.before > 0 && <col style={{ width: drawn.before }} />}
          {drawn.others.map(({ environment }) => (
            <col key={environment.name} style={{ width: statePx }} />
          ))}
          {drawn.after > 0 && <col style={{ width: drawn.after }} />}
          {drawn.hasOwner && <col style={{ width: WIDTHS.owner }} />}
          {drawn.hasChange && <col style={{ width: WIDTHS.changed }} />}
        </colgroup>
        <FlagTableHead drawn={drawn} sort={sort} selected={selected} onToggleAll={toggleAll} />
        <tbody>
          <tr aria-hidden style={{ height: rows.before }} />
          {rows.items.map((item) => (
            <FlagRow key={item.flag.key} {...item} drawn={drawn} />
          ))}
          <tr aria-hidden style={{ height: rows.after }} />
        </tbody>
      </table>
    </div>
  );
}

/** Whether all of these flags are selected, or some; `undefined` where nothing can be selected. */
function selectedOf(
  flags: FlagListProps['flags'],
  keys: ReadonlySet<string> | undefined,
): boolean | 'mixed' | undefined {
  if (keys === undefined) return undefined;
  const count = keys.size === 0 ? 0 : flags.filter(({ key }) => keys.has(key)).length;
  return count > 0 && count < flags.length ? 'mixed' : count > 0;
}

/** Shows the edge that the other columns scroll under. */
function markScrolled({ currentTarget: { dataset, scrollLeft } }: UIEvent<HTMLElement>): void {
  if (scrollLeft > 0) dataset.scrolled = '';
  else delete dataset.scrolled;
}

/** The columns are as wide as their share of the window, and scroll where that would be too narrow. */
function useDrawnColumns(
  scroller: { readonly current: HTMLDivElement | null },
  columns: Columns,
  { hasCheck }: { readonly hasCheck: boolean },
) {
  const { environments, pinned, hasOwner, hasChange } = columns;
  const width = useClientWidth(scroller) ?? innerWidth;
  const keyPx = Math.round(Math.max(WIDTHS.leastKey, Math.min(WIDTHS.mostKey, width * 0.28)));
  const checkPx = hasCheck ? WIDTHS.check : 0;
  const besidePx = checkPx + keyPx + (hasOwner ? WIDTHS.owner : 0) + (hasChange ? WIDTHS.changed : 0);
  const statePx = Math.max(
    WIDTHS.leastState,
    Math.floor((width - besidePx) / Math.max(1, environments.length)),
  );
  // Where pinned columns would cover most of the window, they come first but scroll.
  const staysPx = checkPx + keyPx + pinned * statePx;
  const stays = staysPx + statePx <= width;
  const stickyPx = stays ? staysPx : checkPx + keyPx;
  const { first, end, before, after } = useWindow(scroller, {
    ...{ axis: 'x', count: environments.length - pinned, sizePx: statePx, spare: 2 },
    startPx: stickyPx,
  });
  const drawn = useMemo((): DrawnColumns => {
    const place = (environment: EnvironmentRecord, index: number, leftPx?: number): PlacedColumn => ({
      ...{ environment, index, leftPx },
    });
    return {
      ...{ before, after, hasOwner, hasChange, hasCheck },
      pinned: environments
        .slice(0, pinned)
        .map((each, index) => place(each, index, stays ? checkPx + keyPx + index * statePx : undefined)),
      others: environments
        .slice(pinned + first, pinned + end)
        .map((each, index) => place(each, pinned + first + index)),
    };
  }, [
    environments,
    pinned,
    first,
    end,
    before,
    after,
    hasOwner,
    hasChange,
    hasCheck,
    stays,
    checkPx,
    keyPx,
    statePx,
  ]);
  const showColumn = useCallback(
    (column: number) => {
      const element = scroller.current;
      if (element === null || column < pinned) return;
      const left = (column - pinned) * statePx;
      const right = stickyPx + left + statePx;
      if (left < element.scrollLeft) element.scrollLeft = left;
      else if (right > element.scrollLeft + element.clientWidth)
        element.scrollLeft = right - element.clientWidth;
    },
    [scroller, pinned, statePx, stickyPx],
  );
  const totalPx = Math.max(width, besidePx + environments.length * statePx);
  // The key takes what is left of the window.
  return {
    drawn,
    keyPx: keyPx + totalPx - besidePx - environments.length * statePx,
    statePx,
    totalPx,
    showColumn,
  };
}

/** The `aria-colindex` of the first environment. */
function firstColumn({ hasCheck }: DrawnColumns): number {
  return hasCheck ? 3 : 2;
}

function columnCount(drawn: DrawnColumns, { environments, hasOwner, hasChange }: Columns): number {
  return firstColumn(drawn) - 1 + environments.length + Number(hasOwner) + Number(hasChange);
}

/** The classes of cells that stay at the left; the edge shows while other columns are below it. */
const STAYS = 'sticky z-10 bg-inherit';
const EDGE = 'group-data-scrolled/table:shadow-[1px_0_0_var(--line),6px_0_8px_-6px_rgb(0_0_0/0.25)]';

/** The heads of the columns; they stay when the rows scroll. */
const FlagTableHead = memo(function FlagTableHead({
  drawn,
  sort,
  selected,
  onToggleAll,
}: {
  drawn: DrawnColumns;
  sort: Sort;
  /** `undefined` where nothing can be selected. */
  selected: boolean | 'mixed' | undefined;
  onToggleAll: () => void;
}) {
  const cell = 'border-b border-line bg-surface px-3 text-xs font-medium';
  const isLast = drawn.pinned.every(({ leftPx }) => leftPx === undefined);
  return (
    <thead className="sticky top-0 z-20 bg-surface">
      <tr style={{ height: HEAD_PX }} aria-rowindex={1}>
        {selected !== undefined && (
          <td className={`${cell} ${STAYS} left-0 pr-0`}>
            <Checkbox label={messages.list.selectAll} isChecked={selected} onChange={onToggleAll} />
          </td>
        )}
        <th
          scope="col"
          aria-sort={ariaSort(sort, 'key')}
          className={classNames(
            cell,
            STAYS,
            'text-ink-3',
            drawn.hasCheck ? 'left-11' : 'left-0',
            isLast && EDGE,
          )}
        >
          <SortButton sort={sort} sortKey="key">
            {messages.list.flag}
          </SortButton>
        </th>
        {drawn.pinned.map((column, index) => (
          <EnvironmentHead
            key={column.environment.name}
            column={column}
            firstColumn={firstColumn(drawn)}
            className={classNames(cell, index === drawn.pinned.length - 1 && !isLast && EDGE)}
          />
        ))}
        {drawn.before > 0 && <td aria-hidden className={cell} />}
        {drawn.others.map((column) => (
          <EnvironmentHead
            key={column.environment.name}
            column={column}
            firstColumn={firstColumn(drawn)}
            className={cell}
          />
        ))}
        {drawn.after > 0 && <td aria-hidden className={cell} />}
        {drawn.hasOwner && (
          <th scope="col" className={`${cell} text-ink-3`}>
            {messages.list.owner}
          </th>
        )}
        {drawn.hasChange && (
          <th scope="col" aria-sort={ariaSort(sort, 'changed')} className={`${cell} text-right text-ink-3`}>
            <SortButton sort={sort} sortKey="changed" className="flex-row-reverse">
              {messages.list.changed}
            </SortButton>
          </th>
        )}
      </tr>
    </thead>
  );
});

function EnvironmentHead({
  column: { environment, index, leftPx },
  firstColumn,
  className,
}: {
  column: PlacedColumn;
  firstColumn: number;
  className: string;
}) {
  return (
    <th
      scope="col"
      aria-colindex={firstColumn + index}
      className={classNames(className, leftPx === undefined ? 'relative' : STAYS)}
      style={{ left: leftPx }}
    >
      <span aria-hidden className={`absolute inset-x-0 top-0 h-0.5 ${ENVIRONMENT_FILL[environment.color]}`} />
      <EnvironmentBadge environment={environment} className="max-w-full" />
    </th>
  );
}

/** One flag with its states. Drawn again only when its own record or the drawn columns change. */
const FlagRow = memo(function FlagRow(props: FlagItemProps & { drawn: DrawnColumns }) {
  const { project, flag, index, heightPx, isSelected, isMarked, onToggle, drawn } = props;
  const isLast = drawn.pinned.every(({ leftPx }) => leftPx === undefined);
  const state = ({ environment, index: column, leftPx }: PlacedColumn, hasEdge = false) => (
    <td
      key={environment.name}
      aria-colindex={firstColumn(drawn) + column}
      className={classNames(
        'max-w-0 border-b border-line px-3',
        leftPx !== undefined && STAYS,
        hasEdge && EDGE,
      )}
      style={{ left: leftPx }}
      data-column={column}
    >
      <StateCell
        project={project}
        environment={environment}
        flagKey={flag.key}
        record={flag.environments[environment.name]}
        isArchived={flag.archivedAt !== undefined}
      />
    </td>
  );
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
        <td className={`${STAYS} left-0 cursor-default border-b border-line pl-3`} data-control>
          <Checkbox
            label={messages.list.select(flag.key)}
            isChecked={isSelected}
            onChange={(isRange) => onToggle(flag.key, isRange)}
          />
        </td>
      )}
      <th
        scope="row"
        className={classNames(
          STAYS,
          'max-w-0 border-b border-line px-3 font-normal',
          onToggle ? 'left-11' : 'left-0',
          isLast && EDGE,
        )}
      >
        <FlagName {...props} hasDescription={heightPx > 44} />
      </th>
      {drawn.pinned.map((column, place) => state(column, !isLast && place === drawn.pinned.length - 1))}
      {drawn.before > 0 && <td aria-hidden className="border-b border-line" />}
      {drawn.others.map((column) => state(column))}
      {drawn.after > 0 && <td aria-hidden className="border-b border-line" />}
      {drawn.hasOwner && (
        <td className="max-w-0 border-b border-line px-3">
          <Owner owner={flag.owner} />
        </td>
      )}
      {drawn.hasChange && (
        <td className="max-w-0 border-b border-line px-3 text-right">
          <LastChange flag={flag} className="flex-col items-end leading-4" />
        </td>
      )}
    </tr>
  );
});

function Owner({ owner }: { owner: string }) {
  const name = useOwnerName()(owner);
  return (
    <span className="block truncate text-xs text-ink-2" title={owner}>
      {name}
    </span>
  );
}
