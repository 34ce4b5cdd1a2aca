import type { ComponentProps, ReactNode } from 'react';
import { classNames } from './class-names.ts';

/** A column of a {@link RecordTable}. */
export interface Column {
  readonly label: string;
  /** The head is for screen readers only, as over buttons. */
  readonly isSilent?: boolean;
}

/** A table of records that never scrolls sideways: on narrow screens each record is a card of labelled lines. */
export function RecordTable({
  label,
  columns,
  children,
}: {
  label: string;
  columns: readonly Column[];
  children: ReactNode;
}) {
  return (
    <table
      aria-label={label}
      className="w-full border-separate border-spacing-0 rounded-lg border border-line bg-surface text-left max-lg:block"
    >
      <thead className="max-lg:sr-only">
        <tr>
          {columns.map((column) => (
            <th
              key={column.label}
              scope="col"
              className="h-9 px-3 text-xs font-medium whitespace-nowrap text-ink-3 first:pl-4 last:pr-4"
            >
              {column.isSilent ? <span className="sr-only">{column.label}</span> : column.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="max-lg:block">{children}</tbody>
    </table>
  );
}

/** A record; one that is over is dimmed, and says in words why. */
export function RecordRow({
  isOver,
  ...rest
}: Omit<ComponentProps<'tr'>, 'className'> & { isOver?: boolean }) {
  return (
    <tr
      className={classNames(
        'group max-lg:block max-lg:py-2 max-lg:not-first:border-t max-lg:border-line',
        isOver && 'bg-bg text-ink-3',
      )}
      {...rest}
    />
  );
}

const CELL = 'px-3 py-2 align-middle first:pl-4 last:pr-4 lg:border-t lg:border-line max-lg:px-4 max-lg:py-1';

/** What names the record; on narrow screens the card's heading. */
export function RecordHead({ children }: { children: ReactNode }) {
  return (
    <th scope="row" className={classNames(CELL, 'min-w-0 font-normal max-lg:block max-lg:pb-1.5')}>
      {children}
    </th>
  );
}

/** A member of a record. `label` is the column's, said again where there are no columns. */
export function RecordCell({ label, children }: { label: string; children: ReactNode }) {
  return (
    <td className={classNames(CELL, 'max-lg:flex max-lg:min-h-7 max-lg:items-center max-lg:gap-3')}>
      <span aria-hidden className="w-24 shrink-0 self-start pt-0.5 text-xs text-ink-3 lg:hidden">
        {label}
      </span>
      <div className="min-w-0 max-lg:flex-1">{children}</div>
    </td>
  );
}

/** What can be done with a record. */
export function RecordActions({ children }: { children: ReactNode }) {
  return (
    <td className={CELL}>
      <div className="flex flex-wrap justify-end gap-1.5 max-lg:justify-start max-lg:pt-1">{children}</div>
    </td>
  );
}
