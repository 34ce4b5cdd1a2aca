import ChevronsUpDown from 'lucide-react/icons/chevrons-up-down';
import Search from 'lucide-react/icons/search';
import Settings from 'lucide-react/icons/settings';
import { type ReactNode, useCallback, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { requiresApprovals, useEnvironments, useProjects } from '../api/projects.ts';
import { useCanEverywhere, useIsAdminAnywhere } from '../api/session.ts';
import {
  hasEnvironmentFilter,
  isInProjectSettings,
  links,
  PROJECT_SCREENS,
  SETTINGS_SCREENS,
  useCurrentProject,
} from '../browser/links.ts';
import { STARRED_PROJECTS, starredFirst, useStoredSet } from '../browser/stored-set.ts';
import { PausedGuards } from '../changes/change-guards.tsx';
import { classNames } from '../components/class-names.ts';
import { EnvironmentFilter } from '../components/environment-filter.tsx';
import { Kbd } from '../components/kbd.tsx';
import { lazyPart } from '../components/lazy-part.ts';
import { Logo } from '../components/logo.tsx';
import { Menu, MenuChoice, MenuLabel, MenuLink, MenuSeparator } from '../components/menu.tsx';
import { GRID, ScreenSkeleton } from '../components/page.tsx';
import { PartBoundary } from '../components/part-boundary.tsx';
import { WaitingCount } from '../flags/proposals/marks.ts';
import { CommandPalette } from './command-palette.tsx';
import { ConnectionDot, CreateMenu, HelpMenu, UserMenu } from './header-menus.tsx';
import { messages } from './messages.ts';
import { Navigation } from './navigation.tsx';
import { IS_APPLE } from './palette-style.ts';

const ProjectSettingsNavigation = lazyPart(
  () => import('./project-settings-navigation.tsx'),
  'ProjectSettingsNavigation',
);

/** The frame around every screen of a signed-in person. Only the screen scrolls; in a low window the header does, too. */
export function Shell({ children }: { children: ReactNode }) {
  const project = useCurrentProject();
  const [location] = useLocation();
  const [open, setOpen] = useState<'palette' | 'help'>();
  const showHelp = useCallback(() => setOpen('help'), []);

  return (
    <div className="flex h-dvh flex-col short:block short:overflow-y-auto">
      <a
        href="#screen"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded focus:bg-raised focus:px-3 focus:py-1"
      >
        {messages.header.skip}
      </a>

      <header className="shrink-0 border-b border-line bg-surface">
        <div className={classNames(GRID, 'flex h-12 items-center gap-1 max-sm:gap-0')}>
          <Link href="/" aria-label="Halyard" className="-ml-1 rounded-md p-1">
            <Logo />
          </Link>
          <span aria-hidden className="px-0.5 text-line-strong max-sm:hidden">
            /
          </span>
          <ProjectSwitcher project={project} />

          <div className="flex min-w-0 flex-1 justify-center px-2 max-sm:min-w-8 max-sm:justify-end max-sm:px-0">
            <SearchButton onOpen={() => setOpen('palette')} />
          </div>

          <CreateMenu project={project} />
          <HelpMenu onShortcuts={showHelp} />
          <SettingsLink isHere={project === undefined} />
          <ConnectionDot />
          <UserMenu />
        </div>

        <div className={classNames(GRID, 'flex items-center gap-3')}>
          {project === undefined ? <SettingsNavigation /> : <ProjectNavigation project={project} />}
        </div>
        {project !== undefined && isInProjectSettings(location) && (
          // The screen below says it where files are missing.
          <PartBoundary place={location} frame={() => null} fallback={<div className="h-[37px]" />}>
            <ProjectSettingsNavigation project={project} />
          </PartBoundary>
        )}
      </header>

      <main
        id="screen"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also where nothing in it takes the focus
        tabIndex={0}
        className="relative min-h-0 flex-1 overflow-y-auto -outline-offset-2 short:overflow-visible"
      >
        {children}
      </main>
      <CommandPalette open={open} onOpen={setOpen} onHelp={showHelp} />
    </div>
  );
}

/** The empty frame, while it is not known yet who is signed in: nothing moves when the rest appears. */
export function ShellSkeleton() {
  return (
    <div className="flex h-dvh flex-col">
      <div className="h-[85px] shrink-0 border-b border-line bg-surface">
        <div className={classNames(GRID, 'flex h-12 items-center')}>
          <Logo />
        </div>
      </div>
      <ScreenSkeleton />
    </div>
  );
}

function SearchButton({ onOpen }: { onOpen: () => void }) {
  return (
    <button
      type="button"
      onClick={onOpen}
      aria-keyshortcuts={IS_APPLE ? 'Meta+K' : 'Control+K'}
      className="target flex h-8 min-w-8 items-center gap-2 rounded-md border border-line-strong bg-bg px-2.5 text-ink-3 hover:bg-hover hover:text-ink-2 sm:w-full sm:max-w-96 max-sm:justify-center max-sm:border-transparent max-sm:bg-transparent max-sm:px-0"
    >
      <Search size={15} className="shrink-0" aria-hidden />
      <span className="min-w-0 flex-1 truncate text-left max-sm:sr-only">{messages.palette.hint}</span>
      <span aria-hidden className="max-md:hidden">
        <Kbd keys={IS_APPLE ? '⌘ K' : 'Ctrl K'} />
      </span>
    </button>
  );
}

function SettingsLink({ isHere }: { isHere: boolean }) {
  return (
    <Link
      href={links.operators}
      title={messages.header.settings}
      className={classNames(
        'target inline-flex h-8 shrink-0 items-center gap-1.5 rounded-md px-1.5 hover:bg-hover hover:text-ink',
        isHere ? 'text-ink' : 'text-ink-2',
      )}
    >
      <Settings size={16} aria-hidden />
      <span className="max-lg:sr-only">{messages.header.settings}</span>
    </Link>
  );
}

function ProjectNavigation({ project }: { project: string }) {
  const [location] = useLocation();
  const proposals = links.proposals(project);
  // Without approvals there are no proposals to go to; the palette still does.
  const hasProposals = useEnvironments(project).some(requiresApprovals) || location.startsWith(proposals);

  // The link that leads to a screen without its own.
  const above = isInProjectSettings(location)
    ? links.projectSettings
    : location === links.cleanUp(project) && links.flags;
  const screens = PROJECT_SCREENS.map(({ name, to }) => ({
    name,
    address: to(project),
    isWithin: to === above,
  }));

  return (
    <>
      <Navigation
        label={messages.header.navigation}
        screens={screens.filter(({ address }) => hasProposals || address !== proposals)}
        mark={({ address }) => address === proposals && <WaitingCount project={project} />}
      />
      <PausedGuards project={project} />
      {hasEnvironmentFilter(location) && <EnvironmentFilter project={project} />}
    </>
  );
}

/** The links to the screens of the settings. Tokens are for administrators. */
function SettingsNavigation() {
  const canManage = useIsAdminAnywhere();
  const screens = SETTINGS_SCREENS.filter(({ isForAdmins }) => canManage || !isForAdmins);
  return <Navigation label={messages.header.settings} screens={screens} />;
}

/** How many projects the menu shows, starred ones first; the list of all projects has a search. */
const MOST = 12;

/** Shows the project of the screen and links to the others. */
function ProjectSwitcher({ project }: { project: string | undefined }) {
  const [, navigate] = useLocation();
  const { data: projects = [] } = useProjects();
  const canCreate = useCanEverywhere('admin');
  const [starred] = useStoredSet(STARRED_PROJECTS);
  const listed = starredFirst(projects, starred).slice(0, MOST);

  return (
    <Menu
      align="start"
      trigger={
        <button
          type="button"
          className="target inline-flex h-8 min-w-0 items-center gap-1.5 rounded-md px-2 font-medium hover:bg-hover"
        >
          <span className="sr-only">{messages.header.project}</span>
          <span className="max-w-48 truncate">{project ?? messages.header.selectProject}</span>
          <ChevronsUpDown size={13} className="shrink-0 text-ink-3" aria-hidden />
        </button>
      }
    >
      <MenuLabel>{messages.header.projects}</MenuLabel>
      {listed.map(({ name }) => (
        <MenuChoice key={name} isChosen={name === project} onSelect={() => navigate(links.flags(name))}>
          {name}
        </MenuChoice>
      ))}

      <MenuSeparator />
      <MenuLink to={links.projects} label={messages.header.allProjects} />
      {canCreate && <MenuLink to={`${links.projects}&new=project`} label={messages.create.nouns.project} />}
    </Menu>
  );
}
