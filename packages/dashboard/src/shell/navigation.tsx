import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { classNames } from '../components/class-names.ts';
import { SparePart } from '../components/parts.tsx';

/** A link of a navigation. */
export interface Destination {
  readonly name: string;
  readonly address: string;
  /** Whether the screen is one of those below it. */
  readonly isWithin?: boolean;
}

/** The links to the screens of a project, or of the settings. They scroll sideways where they do not fit. */
export function Navigation({
  label,
  screens,
  mark,
}: {
  label: string;
  screens: readonly Destination[];
  /** What is shown after a name. */
  mark?: (screen: Destination) => ReactNode;
}) {
  const [location] = useLocation();
  const ref = useRef<HTMLElement>(null);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new address shows a new screen
  useEffect(() => {
    const nav = ref.current;
    if (nav === null) return;
    // At once, and when a control that appears beside the links takes their space.
    const observer = new ResizeObserver(() => showCurrent(nav));
    observer.observe(nav);
    // A mark after a name comes later, and moves the links after it.
    if (nav.firstElementChild) observer.observe(nav.firstElementChild);
    return () => observer.disconnect();
  }, [location]);

  return (
    <nav
      ref={ref}
      aria-label={label}
      className="relative -ml-2.5 min-w-0 flex-1 overflow-x-auto scroll-edges [--edge:var(--surface)] [scrollbar-width:none]"
    >
      <ul className="flex w-max gap-0.5">
        {screens.map((screen) => {
          const { name, address, isWithin = false } = screen;
          const path = address.replace(/\?.*/, '');
          const isHere = isWithin || location === path || (path !== '/' && location.startsWith(`${path}/`));

          return (
            <li key={name}>
              <Link
                href={address}
                aria-current={isHere ? 'page' : undefined}
                className={classNames(
                  // One weight for all: a bolder one would move the links after it.
                  'flex h-9 items-center gap-1.5 border-b-2 px-2.5 font-medium whitespace-nowrap -outline-offset-2',
                  isHere
                    ? 'border-accent text-ink'
                    : 'border-transparent forced-colors:border-[Canvas] text-ink-3 hover:border-line hover:text-ink',
                )}
              >
                {name}
                <SparePart>{mark?.(screen)}</SparePart>
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}

/** Scrolls to the link of this screen: on a narrow one the last links are out of view. */
function showCurrent(nav: HTMLElement): void {
  const here = nav.querySelector<HTMLElement>('[aria-current]');
  if (!here) return;
  // Not `scrollIntoView`: it also moves the place that the first Tab starts from.
  const right = here.offsetLeft + here.offsetWidth;
  if (here.offsetLeft < nav.scrollLeft) nav.scrollLeft = here.offsetLeft;
  else if (right > nav.scrollLeft + nav.clientWidth) nav.scrollLeft = right - nav.clientWidth;
}
