import {
  type KeyboardEvent,
  type MouseEvent,
  type RefObject,
  useCallback,
  useLayoutEffect,
  useState,
} from 'react';
import { useShortcut } from '../../components/use-shortcut.ts';

/** Rows drawn above and below what can be seen, so that quick scrolling shows no gaps. */
const SPARE_ROWS = 8;

/** Which rows are drawn, and the room that the others take. */
interface RowWindow {
  readonly first: number;
  /** One after the last. */
  readonly end: number;
  readonly before: number;
  readonly after: number;
}

/**
 * Draws only the rows that can be seen of a long list, all of one height. `scroller` is the element that scrolls,
 * `heightPx` a row's height, `topPx` what stands before the first row inside of it.
 */
export function useWindowedRows(
  scroller: RefObject<HTMLElement | null>,
  { count, heightPx, topPx }: { readonly count: number; readonly heightPx: number; readonly topPx: number },
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

/** A list whose rows are drawn as they come into view. Rows carry `data-row`, their switches `data-column`. */
interface RowKeysOptions {
  readonly count: number;
  readonly heightPx: number;
  /** What stands before the first row inside of the scroller, and over it when it is scrolled. */
  readonly topPx: number;
}

/**
 * Moves through the rows with `j` and `k`, and through a row's switches with `h` and `l`; Space is the switch's own, and
 * Enter opens the flag ({@link OPEN_ROW}). The focus itself moves, so that everything else works with it as well.
 */
export function useRowKeys(scroller: RefObject<HTMLElement | null>, options: RowKeysOptions): void {
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
 * Handlers for the element around the rows. A click on a row opens its flag, unless it was meant for a control or selects
 * text; so does Enter on one of its switches. Both go through the row's link, so that Ctrl opens a new tab.
 */
export const OPEN_ROW = {
  onClick: (event: MouseEvent<HTMLElement>): void => {
    // What was clicked in the page is an element.
    const target = event.target as Element;
    if (target.closest('a, button, [data-control]') !== null || getSelection()?.isCollapsed === false) return;
    const link = target.closest('[data-row]')?.querySelector<HTMLElement>('a');
    link?.focus({ preventScroll: true });
    link?.dispatchEvent(new window.MouseEvent('click', event.nativeEvent));
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
