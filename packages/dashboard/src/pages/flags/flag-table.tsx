import { memo, type UIEvent, useCallback, useLayoutEffect, useMemo, useRef } from 'react';
import { ENVIRONMENT_FILL, EnvironmentBadge } from '../../components/badges.tsx';
import { Checkbox } from '../../components/checkbox.tsx';
import { classNames } from '../../components/class-names.ts';
import { ariaSort, type Sort } from '../../components/sort.ts';
import { SortButton } from '../../components/tables.tsx';
import type { ExtraColumn } from './extra-columns.tsx';
import { FlagRow } from './flag-row.tsx';
import { messages } from './messages.ts';
import {
  type DrawnColumns,
  EDGE,
  isGap,
  type PlacedColumn,
  STAYS,
  useDrawnColumns,
  WIDTHS,
} from './table-columns.ts';
import { type FlagListProps, OPEN_ROW, useFlagRows } from './windowed-rows.ts';

const HEAD_PX = 36;
const ROW_PX = { comfortable: 54, compact: 38 } as const;

/** A row for each flag, a column for each environment. Only what is in view is drawn, in both directions. */
export function FlagTable({ sort, ...props }: FlagListProps & { sort: Sort }) {
  const { project, flags, columns, density, selection } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const hasCheck = selection !== undefined;
  const { drawn, sizes, showColumn } = useDrawnColumns(scroller, columns, { hasCheck });
  const columnCount = (hasCheck ? 2 : 1) + columns.environments.length + columns.extra.length;

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
      className="group/table relative min-h-0 flex-1 overflow-auto rounded-lg border border-line bg-surface short:h-[calc(100dvh-1rem)] short:flex-none"
      data-scroller
      // The focus must not end up under the cells that stay.
      style={{ scrollPaddingLeft: sizes.stickyPx, scrollPaddingTop: HEAD_PX }}
      onScroll={markScrolled}
      {...OPEN_ROW}
    >
      <table
        className="table-fixed border-separate border-spacing-0 text-left"
        style={{ width: sizes.totalPx }}
        aria-rowcount={flags.length + 1}
        aria-colcount={columnCount}
        aria-label={messages.list.label(project.name)}
      >
        <colgroup>
          {hasCheck && <col style={{ width: WIDTHS.check }} />}
          <col style={{ width: sizes.keyPx }} />
          {drawn.slots.map((slot) => (
            <col key={slot.key} style={{ width: isGap(slot) ? slot.widthPx : sizes.statePx }} />
          ))}
          {columns.extra.map(({ name, widthPx }) => (
            <col key={name} style={{ width: widthPx }} />
          ))}
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

const CELL = 'border-b border-line bg-surface px-3 text-xs font-medium';

/** The heads of the columns; they stay when the rows scroll. */
const FlagTableHead = memo(function FlagTableHead({
  drawn: { hasCheck, isKeyLast, slots, extra, extraAriaIndex },
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
  return (
    <thead className="sticky top-0 z-20 bg-surface">
      <tr style={{ height: HEAD_PX }} aria-rowindex={1}>
        {selected !== undefined && (
          <td className={`${CELL} ${STAYS} left-0 pr-0`}>
            <Checkbox label={messages.list.selectAll} isChecked={selected} onChange={onToggleAll} />
          </td>
        )}

        <th
          scope="col"
          aria-sort={ariaSort(sort, 'key')}
          className={classNames(
            CELL,
            STAYS,
            'text-ink-3',
            hasCheck ? 'left-11' : 'left-0',
            isKeyLast && EDGE,
          )}
        >
          <SortButton sort={sort} sortKey="key">
            {messages.list.flag}
          </SortButton>
        </th>

        {slots.map((slot) =>
          isGap(slot) ? (
            <td key={slot.key} aria-hidden className={CELL} />
          ) : (
            <EnvironmentHead key={slot.key} column={slot} />
          ),
        )}

        {extra.map((column, index) => (
          <ExtraHead key={column.name} column={column} ariaIndex={extraAriaIndex + index} sort={sort} />
        ))}
      </tr>
    </thead>
  );
});

function ExtraHead({
  column: { head, sortKey, align },
  ariaIndex,
  sort,
}: {
  column: ExtraColumn;
  ariaIndex: number;
  sort: Sort;
}) {
  const className = classNames(CELL, 'text-ink-3', align === 'right' && 'text-right');
  if (sortKey === undefined)
    return (
      <th scope="col" aria-colindex={ariaIndex} className={className}>
        {head}
      </th>
    );

  return (
    <th scope="col" aria-colindex={ariaIndex} aria-sort={ariaSort(sort, sortKey)} className={className}>
      <SortButton
        sort={sort}
        sortKey={sortKey}
        className={classNames(align === 'right' && 'flex-row-reverse')}
      >
        {head}
      </SortButton>
    </th>
  );
}

function EnvironmentHead({ column: { environment, ariaIndex, leftPx, isLast } }: { column: PlacedColumn }) {
  return (
    <th
      scope="col"
      aria-colindex={ariaIndex}
      className={classNames(CELL, leftPx === undefined ? 'relative' : STAYS, isLast && EDGE)}
      style={{ left: leftPx }}
    >
      <span aria-hidden className={`absolute inset-x-0 top-0 h-0.5 ${ENVIRONMENT_FILL[environment.color]}`} />
      <EnvironmentBadge environment={environment} fit="cut" />
    </th>
  );
}
