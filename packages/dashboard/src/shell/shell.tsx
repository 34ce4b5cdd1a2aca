import ChevronsUpDown from 'lucide-react/icons/chevrons-up-down';
import CircleUser from 'lucide-react/icons/circle-user-round';
import { type ReactNode, useEffect, useRef } from 'react';
import { Link, useLocation } from 'wouter';
import { useLiveStatus } from '../api/live.tsx';
import type { LiveStatus } from '../api/live-connection.ts';
import { useProjects } from '../api/projects.ts';
import { useCan, useOperator, useSignOut } from '../api/session.ts';
import { classNames } from '../components/class-names.ts';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../components/menu.tsx';
import { CommandPalette } from './command-palette.tsx';
import { links, PROJECT_SCREENS, useCurrentProject } from './links.ts';
import { Logo } from './logo.tsx';
import { messages } from './messages.ts';
import { type Theme, useTheme } from './preferences.ts';

/** The frame around every screen of a signed-in person. Only the screen scrolls. */
export function Shell({ children }: { children: ReactNode }) {
  const project = useCurrentProject();
  return (
    <div className="flex h-dvh flex-col">
      <a
        href="#screen"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded focus:bg-raised focus:px-3 focus:py-1"
      >
        {messages.header.skip}
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new address shows a new screen
  useEffect(() => {
    // On a narrow screen the last links are out of view.
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
      aria-label={messages.header.navigation}
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

/** How many projects the menu shows; the list of all projects has a search. */
const MOST = 12;

/** Shows the project of the screen and links to the others. */
function ProjectSwitcher({ project }: { project: string | undefined }) {
  const [, navigate] = useLocation();
  const { data: projects = [] } = useProjects();
  const canCreate = useCan('admin');
  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="inline-flex h-8 min-w-0 items-center gap-1.5 rounded-md px-2 font-medium hover:bg-hover"
        >
          <span className="sr-only">{messages.header.project}</span>
          <span className="truncate">{project ?? messages.header.selectProject}</span>
          <ChevronsUpDown size={13} className="shrink-0 text-ink-3" aria-hidden />
        </button>
      }
    >
      <MenuLabel>{messages.header.projects}</MenuLabel>
      {projects.slice(0, MOST).map(({ name }) => (
        <MenuChoice key={name} isChosen={name === project} onSelect={() => navigate(links.flags(name))}>
          {name}
        </MenuChoice>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={() => navigate('/?projects')}>{messages.header.allProjects}</MenuItem>
      {canCreate && (
        <MenuItem onSelect={() => navigate('/?projects&new')}>{messages.header.newProject}</MenuItem>
      )}
    </Menu>
  );
}

const MARKS: Readonly<Record<LiveStatus, string>> = {
  open: 'bg-env-green',
  connecting: 'bg-env-gray animate-shimmer',
  lost: 'bg-env-red',
  paused: 'bg-env-gray',
};

/** Whether live updates arrive. */
function ConnectionDot() {
  const status = useLiveStatus();
  const [word, title] = messages.connection[status];
  return (
    <span className="inline-flex items-center gap-1.5 text-xs text-ink-3" title={title} role="status">
      <span
        aria-hidden
        className={classNames('size-2 rounded-full forced-color-adjust-none', MARKS[status])}
      />
      <span className="max-sm:sr-only">{word}</span>
    </span>
  );
}

const THEMES: readonly Theme[] = ['light', 'dark', 'system'];

/** The menu of the signed-in person: account, theme, screens outside of projects, and sign-out. */
function UserMenu() {
  const { name, email, role } = useOperator();
  const [theme, setTheme] = useTheme();
  const [, navigate] = useLocation();
  const signOut = useSignOut();
  return (
    <Menu
      trigger={
        <button
          type="button"
          className="inline-flex h-8 items-center gap-1.5 rounded-md px-1.5 text-ink-2 hover:bg-hover hover:text-ink"
        >
          <CircleUser size={18} aria-hidden />
          <span className="max-w-32 truncate max-md:sr-only">{name}</span>
        </button>
      }
    >
      <MenuLabel>
        {email} · {role}
      </MenuLabel>
      <MenuItem onSelect={() => navigate(links.account)}>{messages.user.account}</MenuItem>
      <MenuItem onSelect={() => navigate(links.operators)}>{messages.user.people}</MenuItem>
      <MenuItem onSelect={() => navigate(links.tokens)}>{messages.user.tokens}</MenuItem>
      <MenuItem onSelect={() => navigate(links.relayTokens)}>{messages.user.relayTokens}</MenuItem>
      <MenuItem onSelect={() => navigate(links.audit)}>{messages.user.audit}</MenuItem>
      <MenuItem onSelect={() => location.assign('/docs')}>{messages.user.documentation}</MenuItem>
      <MenuSeparator />
      <MenuLabel>{messages.user.theme}</MenuLabel>
      {THEMES.map((choice) => (
        <MenuChoice key={choice} isChosen={theme === choice} onSelect={() => setTheme(choice)}>
          {messages.user.themes[choice]}
        </MenuChoice>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={() => signOut.mutate()}>{messages.user.signOut}</MenuItem>
    </Menu>
  );
}
