import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { classNames } from '../components/class-names.ts';
import { CommandPalette } from './command-palette.tsx';
import { ConnectionDot } from './connection-dot.tsx';
import { useCurrentProject } from './current-project.ts';
import { PROJECT_SCREENS } from './links.ts';
import { Logo } from './logo.tsx';
import { ProjectSwitcher } from './project-switcher.tsx';
import { UserMenu } from './user-menu.tsx';

/** What stands around every screen of somebody who is signed in. The screen scrolls, this stays. */
export function Shell({ children }: { children: ReactNode }) {
  const project = useCurrentProject();
  return (
    <div className="flex h-dvh flex-col">
      <a
        href="#screen"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded focus:bg-raised focus:px-3 focus:py-1"
      >
        Skip to the content
      </a>
      <header className="shrink-0 border-b border-line bg-surface">
        <div className="flex h-12 items-center gap-1 px-3 sm:px-4">
          <Link href="/" aria-label="Halyard" className="rounded-md p-1">
            <Logo />
          </Link>
          <span aria-hidden className="px-0.5 text-line-strong">
            /
          </span>
          <ProjectSwitcher project={project} />
          <div className="ml-auto flex items-center gap-2.5">
            <ConnectionDot />
            <UserMenu />
          </div>
        </div>
        {project !== undefined && <ProjectNavigation project={project} />}
      </header>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also where nothing in it takes the focus */}
      <main id="screen" tabIndex={0} className="relative min-h-0 flex-1 overflow-y-auto -outline-offset-2">
        {children}
      </main>
      <CommandPalette />
    </div>
  );
}

function ProjectNavigation({ project }: { project: string }) {
  const [location] = useLocation();
  const ref = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another address is another screen
  useEffect(() => {
    // On a narrow screen the last ones stand outside of it.
    const nav = ref.current;
    const here = nav?.querySelector<HTMLElement>('[aria-current]');
    if (nav === null || !here) return;
    // Not `scrollIntoView`: it also moves the place that the first Tab starts from.
    const right = here.offsetLeft + here.offsetWidth;
    if (here.offsetLeft < nav.scrollLeft) nav.scrollLeft = here.offsetLeft;
    else if (right > nav.scrollLeft + nav.clientWidth) nav.scrollLeft = right - nav.clientWidth;
  }, [location]);
  return (
    <nav
      ref={ref}
      aria-label="Project"
      className="relative overflow-x-auto px-2 sm:px-3 [scrollbar-width:none]"
    >
      <ul className="flex gap-0.5">
        {PROJECT_SCREENS.map(({ name, to }) => {
          const address = to(project);
          const isHere = location === address || location.startsWith(`${address}/`);
          return (
            <li key={name}>
              <Link
                href={address}
                aria-current={isHere ? 'page' : undefined}
                className={classNames(
                  'flex h-9 items-center border-b-2 px-2.5 whitespace-nowrap -outline-offset-2',
                  isHere
                    ? 'border-accent font-medium text-ink'
                    : 'border-transparent forced-colors:border-[Canvas] text-ink-2 hover:border-line hover:text-ink',
                )}
              >
                {name}
              </Link>
            </li>
          );
        })}
      </ul>
    </nav>
  );
}
