import {
  type MouseEvent,
  type KeyboardEvent as ReactKeyboardEvent,
  type RefObject,
  useEffect,
  useEffectEvent,
  useRef,
} from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useShortcut } from '../../browser/use-shortcut.ts';
import { offsetIn, scrollBoxOf, useWindow } from '../../components/windowing.ts';
import { wordsOf } from '../../flags/flag-filter.ts';
import type { Selection } from '../../flags/selection.ts';
import type { Columns } from './column-choice.ts';

/** The props of a list of flags. */
export interface FlagListProps {
  readonly project: ProjectRecord;
  readonly flags: readonly FlagRecord[];
  readonly columns: Columns;
  readonly density: 'comfortable' | 'compact';
  /** The words of the search, in lower case, to highlight. Keep it stable. */
  readonly words: readonly string[];
  readonly favorites: ReadonlySet<string>;
  readonly onFavorite: (key: string) => void;
  /** `undefined` where bulk actions are not allowed. */
  readonly selection: Selection | undefined;
  /** Toggles a flag, or with `isRange` all from the one before it. Keep it stable. */
  readonly onToggle: (key: string, isRange: boolean) => void;
  /** The row to scroll to and to highlight; -1 for none. */
  readonly markedRow: number;
}

/** The props of a row or a card. */
export interface FlagItemProps extends Pick<FlagListProps, 'words' | 'onFavorite'> {
  /** The project's name. */
  readonly project: string;
  readonly flag: FlagRecord;
  /** Its place among the rows, from 0. */
  readonly index: number;
  readonly heightPx: number;
  readonly isFavorite: boolean;
  readonly isSelected: boolean;
  readonly isMarked: boolean;
  /** `undefined` where bulk actions are not allowed. */
  readonly onToggle: ((key: string, isRange: boolean) => void) | undefined;
}

/** Sizes of a list whose rows all have one height, in pixels. */
export interface RowSizes {
  readonly heightPx: number;
  /** The head above the first row, which covers the top of the list when it is scrolled. */
  readonly topPx: number;
  /** Scrolls a column into view, before it takes the focus. */
  readonly showColumn?: (column: number) => void;
  readonly columns: number;
}

/** The attributes by which keys, the highlight and tests find a drawn row. */
export function rowMarks({ index, flag, isSelected, isMarked }: FlagItemProps) {
  return {
    'data-row': index,
    'data-flag': flag.key,
    'data-chosen': isSelected || undefined,
    'data-marked': isMarked || undefined,
  };
}

/** Space below the last row, in pixels: it can be scrolled clear of a message. */
const END_PX = 88;

/** Rows drawn above and below the visible ones. */
const SPARE_ROWS = 8;

/** The rows of a flag list that are in view, with keys that move through them, and the marked one scrolled to. */
export function useFlagRows(
  scroller: RefObject<HTMLElement | null>,
  { project, flags, selection, favorites, markedRow, words, onFavorite, onToggle }: FlagListProps,
  sizes: RowSizes,
) {
  const { heightPx, topPx } = sizes;
  const count = flags.length;
  const { first, end, before, after } = useWindow(scroller, {
    axis: 'y',
    count,
    sizePx: heightPx,
    startPx: topPx,
    spare: SPARE_ROWS,
  });
  useRowKeys(scroller, { count, words, ...sizes });
  useShortcut('x', () => {
    const key = focusedRow(scroller.current)?.dataset.flag;
    if (selection !== undefined && key !== undefined) onToggle(key, false);
  });

  useEffect(() => {
    const element = scroller.current;
    if (element === null || markedRow === -1) return;
    const box = scrollBoxOf(element);
    // In the middle, clear of the table's head and of messages.
    box.scrollTop = offsetIn(box, element) + topPx + markedRow * heightPx - (box.clientHeight - heightPx) / 2;
  }, [scroller, markedRow, heightPx, topPx]);

  const items = flags.slice(first, end).map(
    (flag, index): FlagItemProps => ({
      project: project.name,
      flag,
      heightPx,
      words,
      onFavorite,
      index: first + index,
      isFavorite: favorites.has(flag.key),
      isSelected: selection?.keys.has(flag.key) ?? false,
      isMarked: first + index === markedRow,
      onToggle: selection && onToggle,
    }),
  );
  return { items, before, after: after + END_PX };
}

interface RowList extends RowSizes {
  readonly count: number;
  /** The words of the search that the rows match. */
  readonly words: readonly string[];
}

/** How many frames a row may take to be drawn after the list was scrolled to it. */
const PATIENCE_FRAMES = 60;

/**
 * Moves through the rows with `j` and `k`, and through a row's switches with `h` and `l`; Space flips a
 * switch, Enter opens the flag ({@link OPEN_ROW}). From the search above the list, the arrow down or Enter leads to the first row.
 * The focus itself moves, so that everything else works with it.
 */
function useRowKeys(scroller: RefObject<HTMLElement | null>, options: RowList): void {
  const { count, words, heightPx, topPx, columns, showColumn } = options;
  // The next key may come before the place of the last one is drawn and has the focus.
  const pending = useRef<Place>(undefined);
  function move(rowStep: number, columnStep: number): void {
    const element = scroller.current;
    if (element === null || count === 0) return;

    const { row, column } = pending.current ?? placeOfFocus(element);
    const nextRow = clamp(row + rowStep, count);
    const nextColumn = clamp(column + columnStep, columns);
    scrollTo(element, nextRow, heightPx, topPx);
    showColumn?.(nextColumn);

    const place = { row: nextRow, column: nextColumn };
    pending.current = place;
    void whenDrawn(element, place, () => pending.current === place).then((target) => {
      if (pending.current !== place) return;
      pending.current = undefined;
      target?.focus({ preventScroll: true });
    });
  }

  useShortcut('j', () => move(1, 0));
  useShortcut('k', () => move(-1, 0));
  useShortcut('l', () => move(0, 1));
  useShortcut('h', () => move(0, -1));
  useWayFromSearch(words, () => move(1, 0));
}

/** Runs `enter` after the arrow down or Enter in the search of the screen, as soon as the rows match its text: they follow it later. */
function useWayFromSearch(words: readonly string[], enter: () => void): void {
  const wanted = useRef<string>(undefined);
  const enterOnce = useEffectEvent(() => {
    if (wanted.current !== words.join(' ')) return;
    wanted.current = undefined;
    enter();
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: other words are other rows
  useEffect(() => enterOnce(), [words]);

  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      const { target, key, isComposing, defaultPrevented } = event;
      if (!(target instanceof HTMLInputElement) || target.closest('main search') === null) return;
      if ((key !== 'Enter' && key !== 'ArrowDown') || isComposing || defaultPrevented) return;
      event.preventDefault();
      wanted.current = wordsOf(target.value).join(' ');
      enterOnce();
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function clamp(index: number, count: number): number {
  return Math.max(0, Math.min(count - 1, index));
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
  onKeyDown: (event: ReactKeyboardEvent<HTMLElement>): void => {
    // A key is pressed in an element.
    const target = event.target as Element;
    if (event.key !== 'Enter' || event.repeat || !target.matches('input')) return;
    target.closest('[data-row]')?.querySelector<HTMLElement>('a')?.click();
  },
};

/** A row and a column of the list, from 0. */
interface Place {
  readonly row: number;
  readonly column: number;
}

function placeOfFocus(element: HTMLElement): Place {
  const row = focusedRow(element);
  if (row === undefined) return { row: -1, column: 0 };
  const column = document.activeElement?.closest<HTMLElement>('[data-column]')?.dataset.column ?? '0';
  return { row: Number(row.dataset.row), column: Number(column) };
}

/** The row of the list that has the focus. */
function focusedRow(element: HTMLElement | null): HTMLElement | undefined {
  const row = document.activeElement?.closest<HTMLElement>('[data-row]');
  return row && element?.contains(row) ? row : undefined;
}

function scrollTo(element: HTMLElement, row: number, heightPx: number, topPx: number): void {
  const box = scrollBoxOf(element);
  const top = offsetIn(box, element) + row * heightPx;
  const bottom = topPx + top + heightPx;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (bottom > box.scrollTop + box.clientHeight) box.scrollTop = bottom - box.clientHeight;
}

/**
 * The switch of a column, once it is drawn; in a row where it is disabled, another switch, or the flag's link. Waits
 * only while the place `isWanted`.
 */
async function whenDrawn(
  element: HTMLElement,
  { row, column }: Place,
  isWanted: () => boolean,
): Promise<HTMLElement | null | undefined> {
  for (let frames = PATIENCE_FRAMES; ; frames--) {
    const drawn = element.querySelector(`[data-row="${row}"]`);
    const cell = drawn?.querySelector(`[data-column="${column}"]`);
    if (cell || frames === 0 || !isWanted()) {
      const enabled = 'input[role="switch"]:not(:disabled)';
      const target = cell?.querySelector<HTMLElement>(enabled) ?? drawn?.querySelector<HTMLElement>(enabled);
      return target ?? drawn?.querySelector<HTMLElement>('a');
    }
    await new Promise(requestAnimationFrame);
  }
}
