import ArrowDown from 'lucide-react/icons/arrow-down';
import ArrowUp from 'lucide-react/icons/arrow-up';
import { type ComponentProps, type ReactNode, useLayoutEffect, useRef, useState } from 'react';
import { classNames } from './class-names.ts';
import { ariaSort, type Sort } from './sort.ts';

/** A column of a {@link RecordTable}. */
export interface Column {
  readonly label: string;
  /** Shown in the head instead of the label. */
  readonly head?: ReactNode;
  /** The head is only for screen readers, as above buttons. */
  readonly isSilent?: boolean;
  /** What the list can be sorted by, in the address. */
  readonly sortKey?: string;
}

/** The head of a column that sorts the list when it is pressed; the arrow shows the order. Its cell has `aria-sort`. */
export function SortButton({
  sort,
  sortKey,
  className,
  children,
}: {
  sort: Sort;
  sortKey: string;
  className?: string;
  children: ReactNode;
}) {
  const order = ariaSort(sort, sortKey);
  const Arrow = order === 'descending' ? ArrowDown : ArrowUp;

  return (
    <button
      type="button"
      className={classNames(
        'group/sort -mx-1 inline-flex min-h-6 max-w-full items-center gap-1 rounded px-1 hover:text-ink',
        order !== 'none' && 'text-ink',
        className,
      )}
      onClick={() => sort.toggle(sortKey)}
    >
      {children}
      <Arrow
        size={12}
        aria-hidden
        className={classNames(
          'shrink-0',
          order === 'none' && 'opacity-0 group-hover/sort:opacity-60 group-focus-visible/sort:opacity-60',
        )}
      />
    </button>
  );
}

/** A table of records that never scrolls sideways: on narrow screens each record is a card with labeled fields. */
export function RecordTable({
  label,
  columns,
  sort,
  children,
}: {
  label: string;
  columns: readonly Column[];
  /** Without it, the heads only name the columns. */
  sort?: Sort;
  children: ReactNode;
}) {
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface">
      <table aria-label={label} className="w-full border-separate border-spacing-0 text-left max-lg:block">
        <thead className="max-lg:sr-only">
          <tr>
            {columns.map((column) => (
              <th
                key={column.label}
                scope="col"
                aria-sort={sort && column.sortKey !== undefined ? ariaSort(sort, column.sortKey) : undefined}
                className="h-9 px-3 text-xs font-medium whitespace-nowrap text-ink-3 first:pl-4 last:pr-4"
              >
                {column.isSilent ? (
                  <span className="sr-only">{column.label}</span>
                ) : sort && column.sortKey !== undefined ? (
                  <>
                    <SortButton sort={sort} sortKey={column.sortKey} className="max-lg:hidden">
                      {column.label}
                    </SortButton>
                    {/* The head of cards is for screen readers only, and takes no focus. */}
                    <span className="lg:hidden">{column.label}</span>
                  </>
                ) : (
                  (column.head ?? column.label)
                )}
              </th>
            ))}
          </tr>
        </thead>

        <tbody className="max-lg:block">{children}</tbody>
      </table>
    </div>
  );
}

/** The row of a record. One that no longer works is dimmed; its status says why. */
export function RecordRow({
  isOver,
  isSelected,
  ...rest
}: Omit<ComponentProps<'tr'>, 'className'> & { isOver?: boolean; isSelected?: boolean }) {
  return (
    <tr
      className={classNames(
        'max-lg:grid max-lg:grid-cols-2 max-lg:gap-x-4 max-lg:gap-y-2.5 max-lg:border-line max-lg:px-4 max-lg:py-3.5 max-lg:not-first:border-t sm:max-lg:grid-cols-3',
        isOver && 'bg-bg text-ink-3',
        isSelected && 'bg-accent-soft',
      )}
      {...rest}
    />
  );
}

/** It breaks words anywhere: `break-words` inside would make a long one as wide as the cell may be. */
const CELL =
  'align-middle wrap-anywhere lg:border-t lg:border-line lg:px-3 lg:py-2 lg:first:pl-4 lg:last:pr-4 max-lg:block';

/** The name of the record; on narrow screens the card's heading. `label` is read of one with controls in it. */
export function RecordHead({
  label,
  className,
  children,
}: {
  label?: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <th
      scope="row"
      aria-label={label}
      className={classNames(CELL, 'min-w-0 font-normal max-lg:col-span-full lg:max-w-120', className)}
    >
      {children}
    </th>
  );
}

/** A field of a record. `label` is the column's, shown on cards. */
export function RecordCell({
  label,
  className,
  children,
}: {
  label: string;
  className?: string;
  children: ReactNode;
}) {
  return (
    <td className={classNames(CELL, 'min-w-0 lg:max-w-80', className)}>
      <span aria-hidden className="block text-xs text-ink-3 lg:hidden">
        {label}
      </span>
      {children}
    </td>
  );
}

/** The actions on a record; may be empty. */
export function RecordActions({ children }: { children: ReactNode }) {
  return (
    <td className={classNames(CELL, 'max-lg:col-span-full max-lg:has-[>div:empty]:hidden')}>
      <div className="flex flex-wrap items-center gap-1.5 lg:justify-end xl:flex-nowrap">{children}</div>
    </td>
  );
}

/** A part of the screen that scrolls on its own, also with the keyboard; where all of it is in view, Tab passes it by. `label` names it. */
export function ScrollRegion({ label, className, ...rest }: ComponentProps<'section'> & { label: string }) {
  const ref = useRef<HTMLElement>(null);
  const [scrolls, setScrolls] = useState(false);
  useLayoutEffect(() => {
    const region = ref.current;
    if (region === null) return;
    const look = () =>
      setScrolls(region.scrollHeight > region.clientHeight || region.scrollWidth > region.clientWidth);
    look();
    const observer = new ResizeObserver(look);
    for (const each of [region, ...region.children]) observer.observe(each);
    return () => observer.disconnect();
  });

  return (
    <section
      ref={ref}
      aria-label={label}
      // Without `relative`, hidden text inside would be positioned relative to the screen and make it scroll.
      className={classNames('relative', className)}
      // A scrolling element must be reachable with the keyboard.
      tabIndex={scrolls ? 0 : undefined}
      {...rest}
    />
  );
}
