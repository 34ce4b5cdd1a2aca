import Lock from 'lucide-react/icons/lock';
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react';
import { useLocation } from 'wouter';
import { useRights } from '../api/session.ts';
import { classNames } from './class-names.ts';
import { announce } from './live-region.tsx';
import { Skeleton, SkeletonRows } from './screen-states.tsx';

/** The classes of the one column that the header and all screens share: their edges are in line. */
export const GRID = 'mx-auto w-full max-w-420 px-4 sm:px-6';

/** The classes of a screen's heading: the same size and place on all. */
export const HEADING = 'flex min-h-8 items-center text-xl font-semibold outline-none';

/** The frame of a screen: its heading, its actions, and the title of the window. */
export function Page({
  title,
  heading,
  actions,
  intro,
  children,
  className,
}: {
  /** For the title of the window. */
  title: string;
  /** Default: the title. */
  heading?: ReactNode;
  actions?: ReactNode;
  intro?: ReactNode;
  children: ReactNode;
  className?: string;
}) {
  const root = useRef<HTMLDivElement>(null);
  useScreen(root, title);
  return (
    <div ref={root} className={classNames(GRID, 'pt-4 pb-24 sm:pb-5', className)}>
      <div className="mb-4 flex flex-wrap items-center justify-between gap-x-4 gap-y-2">
        <h1 tabIndex={-1} className={classNames(HEADING, actions !== undefined && 'max-w-[calc(100%-4rem)]')}>
          {heading ?? title}
        </h1>
        {actions !== undefined && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
      {intro !== undefined && <p className="-mt-2 mb-4 max-w-2xl text-ink-2">{intro}</p>}
      {children}
    </div>
  );
}

/** Shown in place of a screen that is loading, with its heading's place. */
export function ScreenSkeleton() {
  return (
    <div className={classNames(GRID, 'pt-4')}>
      <div className="mb-4 flex h-8 items-center">
        <Skeleton className="h-4 w-40" />
      </div>
      <div className="rounded-lg border border-line bg-surface">
        <SkeletonRows />
      </div>
    </div>
  );
}

/** Explains to people without permission why there are no buttons. `children` names what requires an administrator. */
export function ReadOnlyNote({ children }: { children: ReactNode }) {
  const { role } = useRights();
  if (role === 'admin') return null;
  return (
    <p className="mb-4 flex items-start gap-2 rounded-md border border-line bg-surface px-3 py-2 text-ink-2">
      <Lock size={14} className="mt-0.5 shrink-0 text-ink-3" aria-hidden />
      <span>
        {children} requires an administrator. Your role is {role}.
      </span>
    </p>
  );
}

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
let path = location.pathname;

// Before the router's own listeners, which show the screen. A redirect counts as the navigation that led to it.
addEventListener('pushState', () => notice('forward'));
addEventListener('replaceState', () => notice(arrival));
addEventListener('popstate', () => notice('back'));

function notice(how: typeof arrival): void {
  if (location.pathname !== path) arrival = how;
  path = location.pathname;
}

/**
 * Sets the title of the window. After a navigation the heading takes the focus and the title is announced, so that
 * screen reader users notice the new screen; after "back", scroll position and focus are restored. `root` contains the
 * `h1`, and the element with `data-scroller` if only a part of the screen scrolls.
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
    if (how.current !== undefined) scrollerOf(element)?.scrollTo(place?.left ?? 0, place?.top ?? 0);
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
    announce(title);
    element.querySelector('h1')?.focus({ preventScroll: true });
    const place = how.current === 'back' ? places.get(address.current) : undefined;
    if (place !== undefined) return restore(element, place);
  }, [root, pathname]);
}

function scrollerOf(root: HTMLElement): HTMLElement | null {
  return root.querySelector<HTMLElement>('[data-scroller]') ?? root.closest('main');
}

function remember(address: string, root: HTMLElement): void {
  const scroller = scrollerOf(root);
  places.delete(address);
  places.set(address, {
    top: scroller?.scrollTop ?? 0,
    left: scroller?.scrollLeft ?? 0,
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
    if (scroller !== null && scroller.scrollTop !== top) scroller.scrollTo(left, top);
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
