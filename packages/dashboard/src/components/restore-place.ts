import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { announce } from './live-region.tsx';
import { scrollBoxOf } from './windowing.ts';

/** The scroll position and the focus of a screen: a selector, and which of its matches had the focus. */
interface Place {
  readonly top: number;
  readonly left: number;
  readonly focus: readonly [selector: string, index: number] | undefined;
}

/** How many addresses are remembered, the latest ones. */
const MOST_PLACES = 100;
/** How long to try to restore a screen, in milliseconds. */
const PATIENCE_MS = 5_000;

const places = new Map<string, Place>();

/** How the screen was reached; `undefined` once that was handled, and after the page was loaded. */
let arrival: 'forward' | 'back' | undefined;

/** Notices how screens are reached. Call it before the first render, so that it hears of each navigation before the router does. */
export function noticeArrivals(): void {
  let path = location.pathname;
  const notice = (how: typeof arrival) => {
    if (location.pathname !== path) arrival = how;
    path = location.pathname;
  };

  // A redirect counts as the navigation that led to it, or as one of the person, as after signing in; while the page loads,
  // the person has done nothing yet.
  addEventListener('pushState', () => notice('forward'));
  addEventListener('replaceState', () =>
    notice(arrival ?? (navigator.userActivation.hasBeenActive ? 'forward' : undefined)),
  );
  addEventListener('popstate', () => notice('back'));
}

/**
 * Sets the title of the window. After a navigation the heading takes the focus, which reads it out, so that screen reader
 * users notice the new screen. After "back", scroll position and focus are restored, and the title is announced if the focus
 * goes elsewhere. `root` contains the `h1`, and the element with `data-scroller` if only a part of the screen scrolls.
 */
export function useScreen(root: RefObject<HTMLElement | null>, title: string): void {
  const [pathname] = useLocation();
  const address = useRef('');
  const how = useRef<typeof arrival>(undefined);
  useLayoutEffect(() => {
    // When it unmounts after a navigation, it still needs the address that it was shown at.
    address.current = location.pathname + location.search;
  });

  useLayoutEffect(() => {
    const element = root.current;
    how.current = arrival;
    arrival = undefined;
    if (element === null) return;

    const place = how.current === 'back' ? places.get(address.current) : undefined;
    if (how.current !== undefined) scrollerOf(element).scrollTo(place?.left ?? 0, place?.top ?? 0);
    return () => {
      // Another state of the same screen follows, as when it has loaded.
      if (location.pathname === pathname) arrival = how.current;
      else remember(address.current, element);
    };
  }, [root, pathname]);

  useEffect(() => {
    document.title = `${title} · Halyard`;
  }, [title]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new title alone is no arrival
  useEffect(() => {
    const element = root.current;
    if (how.current === undefined || element === null) return;

    element.querySelector('h1')?.focus({ preventScroll: true });

    const place = how.current === 'back' ? places.get(address.current) : undefined;
    if (place?.focus !== undefined) announce(title);
    if (place !== undefined) return restore(element, place);
  }, [root, pathname]);
}

function scrollerOf(root: HTMLElement): HTMLElement {
  return scrollBoxOf(root.querySelector<HTMLElement>('[data-scroller]') ?? root);
}

function remember(address: string, root: HTMLElement): void {
  const scroller = scrollerOf(root);
  places.delete(address);
  places.set(address, {
    top: scroller.scrollTop,
    left: scroller.scrollLeft,
    focus: focusIn(root),
  });
  const [oldest] = places.keys();
  if (places.size > MOST_PLACES && oldest !== undefined) places.delete(oldest);
}

function focusIn(root: HTMLElement): Place['focus'] {
  const active = document.activeElement;
  if (active === null || !root.contains(active)) return undefined;
  const name = ['href', 'aria-label'].find((each) => active.hasAttribute(each));
  if (name === undefined) return undefined;
  const selector = `[${name}=${JSON.stringify(active.getAttribute(name))}]`;
  return [selector, [...root.querySelectorAll(selector)].indexOf(active)];
}

/** Restores a screen. Its rows appear later, so this tries again on every change, until the person does something. */
function restore(root: HTMLElement, { top, left, focus }: Place): () => void {
  const observer = new MutationObserver(attempt);
  const timer = setTimeout(stop, PATIENCE_MS);
  const acts = ['wheel', 'pointerdown', 'keydown'] as const;
  for (const act of acts) addEventListener(act, stop, { capture: true });
  observer.observe(root, { childList: true, subtree: true });
  attempt();
  return stop;

  function attempt(): void {
    const scroller = scrollerOf(root);
    if (scroller.scrollTop !== top) scroller.scrollTo(left, top);
    if (focus === undefined) return;

    // A list may render the row again while it measures which rows are visible.
    const { activeElement } = document;
    if (activeElement !== document.body && activeElement?.tagName !== 'H1') return;
    root.querySelectorAll<HTMLElement>(focus[0])[focus[1]]?.focus({ preventScroll: true });
  }

  function stop(): void {
    observer.disconnect();
    clearTimeout(timer);
    for (const act of acts) removeEventListener(act, stop, { capture: true });
  }
}
