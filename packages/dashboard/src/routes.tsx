import { type ComponentType, lazy, type ReactNode, useEffect } from 'react';
import { Redirect, Route, Switch, useLocation, useParams, useSearch } from 'wouter';
import { isRefusal } from './api/api-error.ts';
import { LiveProvider } from './api/live.tsx';
import { useProject } from './api/projects.ts';
import { useSession } from './api/session.ts';
import { links, useCurrentProject } from './browser/links.ts';
import { ChangeGuards } from './changes/change-guards.tsx';
import { CommandsProvider } from './components/commands.tsx';
import { inDialog } from './components/dialog-part.tsx';
import { ScreenSkeleton } from './components/page.tsx';
import { PartBoundary, prefetchParts } from './components/part-boundary.tsx';
import { Problem } from './components/screen-states.tsx';
import { Toasts } from './components/toasts.tsx';
import { NoProject } from './pages/flags/empty-list.tsx';
import { FlagsPage } from './pages/flags/flags-page.tsx';
import { Shell, ShellSkeleton } from './shell/shell.tsx';

/** How the code of the screens is loaded. */
const LOADERS = new Map<ComponentType, () => Promise<unknown>>();

/** A screen whose code is loaded when it is first shown. */
function screen<Name extends string>(
  load: () => Promise<Readonly<Record<Name, () => ReactNode>>>,
  name: Name,
): ComponentType {
  const part = lazy(async (): Promise<{ default: ComponentType }> => ({ default: (await load())[name] }));
  LOADERS.set(part, load);
  return part;
}

const SignInPage = screen(() => import('./pages/sign-in/sign-in-page.tsx'), 'SignInPage');
const SetupPage = screen(() => import('./pages/sign-in/setup-page.tsx'), 'SetupPage');
const SessionEndedDialog = screen(() => import('./pages/sign-in/sign-in-form.tsx'), 'SessionEndedDialog');
const NotFoundPage = screen(() => import('./pages/home/not-found-page.tsx'), 'NotFoundPage');
const InvitationPage = screen(() => import('./pages/sign-in/invitation-page.tsx'), 'InvitationPage');
const ProposalsPage = screen(() => import('./pages/proposals/proposals-page.tsx'), 'ProposalsPage');

/** The screens that require a session, by path. */
const SCREENS: readonly (readonly [path: string, page: ComponentType])[] = [
  ['/', screen(() => import('./pages/home/home-page.tsx'), 'HomePage')],
  ['/projects', () => <Redirect to={links.projects} replace />],

  ['/projects/:project', ProjectStart],
  ['/projects/:project/flags', FlagsPage],
  ['/projects/:project/flags/:key', screen(() => import('./pages/flag/flag-page.tsx'), 'FlagPage')],
  ['/projects/:project/clean-up', screen(() => import('./pages/clean-up/clean-up-page.tsx'), 'CleanUpPage')],
  ['/projects/:project/compare', screen(() => import('./pages/compare/compare-page.tsx'), 'ComparePage')],

  ['/projects/:project/keys', screen(() => import('./pages/secrets/keys-page.tsx'), 'KeysPage')],
  [
    '/projects/:project/settings',
    screen(() => import('./pages/settings/settings-page.tsx'), 'ProjectSettingsPage'),
  ],
  ['/projects/:project/members', screen(() => import('./pages/settings/members-page.tsx'), 'MembersPage')],
  ['/projects/:project/webhooks', screen(() => import('./pages/webhooks/webhooks-page.tsx'), 'WebhooksPage')],
  [
    '/projects/:project/environments',
    screen(() => import('./pages/environments/environments-page.tsx'), 'EnvironmentsPage'),
  ],

  [
    '/projects/:project/schedules',
    screen(() => import('./pages/schedules/schedules-page.tsx'), 'SchedulesPage'),
  ],
  ['/projects/:project/proposals', ProposalsPage],
  ['/projects/:project/proposals/:id', ProposalsPage],
  ['/projects/:project/history', screen(() => import('./pages/history/history-page.tsx'), 'HistoryPage')],
  ['/projects/:project/clients', screen(() => import('./pages/clients/clients-page.tsx'), 'ClientsPage')],

  ['/operators', screen(() => import('./pages/operators/operators-page.tsx'), 'OperatorsPage')],
  ['/tokens', screen(() => import('./pages/secrets/tokens-page.tsx'), 'TokensPage')],
  ['/relay-tokens', screen(() => import('./pages/secrets/relay-tokens-page.tsx'), 'RelayTokensPage')],
  [
    '/webhooks',
    screen(() => import('./pages/webhooks/installation-webhooks-page.tsx'), 'InstallationWebhooksPage'),
  ],
  ['/audit', screen(() => import('./pages/history/audit-page.tsx'), 'AuditPage')],
  ['/account', screen(() => import('./pages/account/account-page.tsx'), 'AccountPage')],
];

/** Begins to load the screen of a path, before it is known whether the person may see it. */
export function preloadScreen(path: string): void {
  const [, page] =
    SCREENS.find(([pattern]) => new RegExp(`^${pattern.replaceAll(/:\w+/g, '[^/]+')}$`).test(path)) ?? [];
  // If that fails, the screen shows it.
  if (page !== undefined) void LOADERS.get(page)?.().catch(() => undefined);
}

/** Shows the screen of the current path. */
export function Routes() {
  const [location] = useLocation();
  return (
    <PartBoundary place={location} frame="screen" fallback={<ShellSkeleton />}>
      <Switch>
        <Route path="/sign-in" component={SignInPage} />
        <Route path="/setup" component={SetupPage} />
        <Route path="/invitation" component={InvitationPage} />
        <Route>
          <SignedInRoutes />
        </Route>
      </Switch>
    </PartBoundary>
  );
}

function SignedInRoutes() {
  const { data: session, error, refetch } = useSession();
  const project = useCurrentProject();
  const [location] = useLocation();
  const search = useSearch();
  const isSignedIn = session?.signedIn === true;
  useEffect(() => {
    if (isSignedIn) void prefetchParts();
  }, [isSignedIn]);

  if (error !== null && session === undefined)
    return <Problem error={error} onRetry={() => void refetch()} />;
  if (session === undefined) return <ShellSkeleton />;
  if (!session.signedIn && session.operator === undefined) {
    const from = location === '/' ? '' : `?from=${encodeURIComponent(location + (search && `?${search}`))}`;
    return <Redirect to={`/sign-in${from}`} replace />;
  }

  return (
    <LiveProvider project={project}>
      <CommandsProvider>
        <ChangeGuards>
          <Shell>
            <PartBoundary place={location} frame="screen" fallback={<ScreenSkeleton />}>
              <Screen project={project} />
            </PartBoundary>
          </Shell>
        </ChangeGuards>
        <Toasts />
        {!session.signedIn && (
          // Below it may be something unsaved.
          <PartBoundary place="sign-in" frame={inDialog(() => {})}>
            <SessionEndedDialog />
          </PartBoundary>
        )}
      </CommandsProvider>
    </LiveProvider>
  );
}

/** The screen of the address, or that its project does not exist. */
function Screen({ project = '' }: { project: string | undefined }) {
  const { error } = useProject(project);
  if (isRefusal(error, 'project_not_found')) return <NoProject name={project} />;
  return (
    <Switch>
      {SCREENS.map(([path, page]) => (
        <Route key={path} path={path} component={page} />
      ))}
      <Route component={NotFoundPage} />
    </Switch>
  );
}

function ProjectStart() {
  const { project = '' } = useParams<{ project: string }>();
  return <Redirect to={links.flags(project)} replace />;
}
