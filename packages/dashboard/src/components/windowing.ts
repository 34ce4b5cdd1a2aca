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

/** The element that scrolls what is in another one, which may be itself: in a low window the whole page scrolls. */
export function scrollBoxOf(element: HTMLElement): HTMLElement {
  for (let each: HTMLElement | null = element; each !== null; each = each.parentElement)
    if (/auto|scroll/.test(getComputedStyle(each).overflowY)) return each;
  return document.documentElement;
}

/** How far a list begins below the top of what its box scrolls, in pixels. */
export function offsetIn(box: HTMLElement, list: HTMLElement): number {
  if (box === list) return 0;
  return list.getBoundingClientRect().top - box.getBoundingClientRect().top + box.scrollTop;
}

/** Limits a long list to the items in view. `scroller` is the list, or the element that scrolls it. */
export function useWindow(
  scroller: RefObject<HTMLElement | null>,
  { axis, count, sizePx, startPx, spare }: WindowOptions,
): ItemWindow {
  const [seen, setSeen] = useState({ first: 0, items: axis === 'y' ? 30 : 12 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    let box = element;

    function measure(): void {
      if (element === null) return;
      const [start, length] =
        axis === 'y'
          ? [Math.max(0, box.scrollTop - offsetIn(box, element)), box.clientHeight]
          : [element.scrollLeft, element.clientWidth];
      const first = Math.max(0, Math.floor(start / sizePx));
      const items = Math.max(0, Math.ceil((length - startPx) / sizePx)) + 1;
      setSeen((before) => (before.first === first && before.items === items ? before : { first, items }));
    }

    function resized(): void {
      if (element !== null && axis === 'y') box = scrollBoxOf(element);
      measure();
    }

    function onScroll({ target }: Event): void {
      if (target === box) measure();
    }

    resized();
    const observer = new ResizeObserver(resized);
    observer.observe(element);
    // Scrolling does not bubble, and the box changes with the height of the window.
    document.addEventListener('scroll', onScroll, { capture: true, passive: true });
    return () => {
      observer.disconnect();
      document.removeEventListener('scroll', onScroll, { capture: true });
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
