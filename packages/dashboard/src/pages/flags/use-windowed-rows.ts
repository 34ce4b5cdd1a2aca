import { type RefObject, useLayoutEffect, useState } from 'react';

/** Rows drawn above and below what can be seen, so that quick scrolling shows no gaps. */
const SPARE_ROWS = 8;

/** Which rows are drawn, and the room that the others take. */
export interface RowWindow {
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
