import {
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useState,
} from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useShortcut } from '../../components/use-shortcut.ts';
import type { Selection } from './bulk-bar.tsx';

/** The props of a list of flags. */
export interface FlagListProps {
  readonly project: ProjectRecord;
  readonly flags: readonly FlagRecord[];
  readonly density: 'comfortable' | 'compact';
  /** `undefined` where bulk actions are not allowed. */
  readonly selection: Selection | undefined;
  /** The row to scroll to and to highlight; -1 for none. */
  readonly markedRow: number;
}

/** The props of a row or a card. */
export interface FlagItemProps {
  readonly project: ProjectRecord;
  readonly flag: FlagRecord;
  /** Its place among the rows, from 0. */
  readonly index: number;
  readonly heightPx: number;
  readonly isSelected: boolean;
  readonly isMarked: boolean;
  /** `undefined` where bulk actions are not allowed. */
  readonly onToggle: ((key: string) => void) | undefined;
}

/** Sizes of a list whose rows all have one height, in pixels. */
interface RowSizes {
  readonly heightPx: number;
  /** The head above the first row, which covers the top of the list when it is scrolled. */
  readonly topPx: number;
}

/** The rows of a flag list that are in view, with keys that move through them, and the marked one scrolled to. */
export function useFlagRows(
  scroller: RefObject<HTMLElement | null>,
  { project, flags, selection, markedRow }: FlagListProps,
  { heightPx, topPx }: RowSizes,
) {
  const list = { count: flags.length, heightPx, topPx };
  const { first, end, before, after } = useWindowedRows(scroller, list);
  useRowKeys(scroller, list);
  useEffect(() => {
    const element = scroller.current;
    if (element === null || markedRow === -1) return;
    // In the middle, clear of the table's head and of messages.
    element.scrollTop = topPx + markedRow * heightPx - (element.clientHeight - heightPx) / 2;
  }, [scroller, markedRow, heightPx, topPx]);
  const items = flags.slice(first, end).map(
    (flag, index): FlagItemProps => ({
      project,
      flag,
      index: first + index,
      heightPx,
      isSelected: selection?.keys.has(flag.key) ?? false,
      isMarked: first + index === markedRow,
      onToggle: selection?.toggle,
    }),
  );
  return { items, before, after };
}

interface RowList extends RowSizes {
  readonly count: number;
}

/** Rows drawn above and below the visible ones, so that quick scrolling shows no gaps. */
const SPARE_ROWS = 8;

/** Which rows are drawn, and the height of the others. */
interface RowWindow {
  readonly first: number;
  /** One after the last. */
  readonly end: number;
  readonly before: number;
  readonly after: number;
}

/**
 * Limits a long list to the visible rows. `scroller` is the element that scrolls.
 */
function useWindowedRows(
  scroller: RefObject<HTMLElement | null>,
  { count, heightPx, topPx }: RowList,
): RowWindow {
  const [seen, setSeen] = useState({ first: 0, rows: 30 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    function measure(): void {
      if (element === null) return;
      const first = Math.max(0, Math.floor((element.scrollTop - topPx) / heightPx));
      const rows = Math.ceil(element.clientHeight / heightPx) + 1;
      setSeen((before) => (before.first === first && before.rows === rows ? before : { first, rows }));
    }
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [scroller, heightPx, topPx]);
  const first = Math.max(0, Math.min(seen.first, count - seen.rows) - SPARE_ROWS);
  const end = Math.min(count, first + seen.rows + 2 * SPARE_ROWS);
  return { first, end, before: first * heightPx, after: (count - end) * heightPx };
}

/** How many frames a row may take to be drawn after the list was scrolled to it. */
const PATIENCE_FRAMES = 10;

/**
 * Moves through the rows with `j` and `k`, and through a row's switches with `h` and `l`; Space flips a
 * switch, Enter opens the flag ({@link OPEN_ROW}). The focus itself moves, so that everything else works with it.
 */
function useRowKeys(scroller: RefObject<HTMLElement | null>, options: RowList): void {
  const { count, heightPx, topPx } = options;
  const move = useCallback(
    (rows: number, columns: number) => {
      const element = scroller.current;
      if (element === null || count === 0) return;
      const { row, column } = placeOfFocus(element);
      const nextRow = Math.max(0, Math.min(count - 1, row + rows));
      scrollTo(element, nextRow, heightPx, topPx);
      focusWhenDrawn(element, nextRow, Math.max(0, column + columns), PATIENCE_FRAMES);
    },
    [scroller, count, heightPx, topPx],
  );
  useShortcut(
    'j',
    useCallback(() => move(1, 0), [move]),
  );
  useShortcut(
    'k',
    useCallback(() => move(-1, 0), [move]),
  );
  useShortcut(
    'l',
    useCallback(() => move(0, 1), [move]),
  );
  useShortcut(
    'h',
    useCallback(() => move(0, -1), [move]),
  );
}

/**
 * Handlers for the element around the rows. A click on a row opens its flag, unless it hits a control or selects
 * text; so does Enter on one of its switches. With Ctrl, Shift or Command the flag opens in a new tab, as links do.
 */
export const OPEN_ROW = {
  onClick: (event: MouseEvent<HTMLElement>): void => {
    // The target of a click in the page is an element.
    const target = event.target as Element;
    if (target.closest('a, button, [data-control]') !== null || getSelection()?.isCollapsed === false) return;
    const link = target.closest('[data-row]')?.querySelector<HTMLAnchorElement>('a');
    link?.focus({ preventScroll: true });
    if (event.ctrlKey || event.metaKey || event.shiftKey) window.open(link?.href, '_blank', 'noopener');
    else link?.click();
  },
  onKeyDown: (event: KeyboardEvent<HTMLElement>): void => {
    // A key is pressed in an element.
    const target = event.target as Element;
    if (event.key !== 'Enter' || event.repeat || !target.matches('input')) return;
    target.closest('[data-row]')?.querySelector<HTMLElement>('a')?.click();
  },
};

function placeOfFocus(element: HTMLElement): { row: number; column: number } {
  const focused = document.activeElement;
  const row = focused?.closest<HTMLElement>('[data-row]');
  if (row === null || row === undefined || !element.contains(row)) return { row: -1, column: 0 };
  const column = focused?.closest<HTMLElement>('[data-column]')?.dataset.column ?? '0';
  return { row: Number(row.dataset.row), column: Number(column) };
}

function scrollTo(element: HTMLElement, row: number, heightPx: number, topPx: number): void {
  const top = row * heightPx;
  const bottom = topPx + top + heightPx;
  if (top < element.scrollTop) element.scrollTop = top;
  else if (bottom > element.scrollTop + element.clientHeight)
    element.scrollTop = bottom - element.clientHeight;
}

function focusWhenDrawn(element: HTMLElement, row: number, column: number, frames: number): void {
  const drawn = element.querySelector(`[data-row="${row}"]`);
  if (drawn === null) {
    if (frames > 0) requestAnimationFrame(() => focusWhenDrawn(element, row, column, frames - 1));
    return;
  }
  const switches = drawn.querySelectorAll<HTMLElement>('input[role="switch"]:not(:disabled)');
  const target = switches[Math.min(column, switches.length - 1)] ?? drawn.querySelector<HTMLElement>('a');
  target?.focus({ preventScroll: true });
}
