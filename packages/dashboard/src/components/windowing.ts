import { type RefObject, useLayoutEffect, useState } from 'react';

/** A long list of items of one size, along one axis of the element that scrolls. Sizes are in pixels. */
interface WindowOptions {
  readonly axis: 'x' | 'y';
  readonly count: number;
  readonly sizePx: number;
  /** What covers the start of the element when it is scrolled, such as the head of a table. */
  readonly startPx: number;
  /** Items drawn before and after the visible ones, so that quick scrolling shows no gaps. */
  readonly spare: number;
}

/** Which items are drawn, and the size of the others. */
interface ItemWindow {
  readonly first: number;
  /** One after the last. */
  readonly end: number;
  readonly before: number;
  readonly after: number;
}

/** Limits a long list to the items in view. `scroller` is the element that scrolls. */
export function useWindow(
  scroller: RefObject<HTMLElement | null>,
  { axis, count, sizePx, startPx, spare }: WindowOptions,
): ItemWindow {
  const [seen, setSeen] = useState({ first: 0, items: axis === 'y' ? 30 : 12 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;

    function measure(): void {
      if (element === null) return;
      const [start, length] =
        axis === 'y' ? [element.scrollTop, element.clientHeight] : [element.scrollLeft, element.clientWidth];
      const first = Math.max(0, Math.floor(start / sizePx));
      const items = Math.max(0, Math.ceil((length - startPx) / sizePx)) + 1;
      setSeen((before) => (before.first === first && before.items === items ? before : { first, items }));
    }

    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [scroller, axis, sizePx, startPx]);

  const first = Math.max(0, Math.min(seen.first, count - seen.items) - spare);
  const end = Math.min(count, Math.max(seen.first, first) + seen.items + spare);
  return { first, end, before: first * sizePx, after: (count - end) * sizePx };
}

/** The width of an element without its scroll bar, in pixels; `undefined` until it is drawn. */
export function useClientWidth(element: RefObject<HTMLElement | null>): number | undefined {
  const [width, setWidth] = useState<number>();
  useLayoutEffect(() => {
    const { current } = element;
    if (current === null) return;
    const measure = () => setWidth(current.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
