import { useQuery } from '@tanstack/react-query';
import CircleHelp from 'lucide-react/icons/circle-question-mark';
import CircleUser from 'lucide-react/icons/circle-user-round';
import Plus from 'lucide-react/icons/plus';
import { useLiveStatus } from '../api/live.tsx';
import type { LiveStatus } from '../api/live-connection.ts';
import { request } from '../api/request.ts';
import { useCan, useOperator, useRights } from '../api/session.ts';
import { links } from '../browser/links.ts';
import { useStoredChoice } from '../browser/stored.ts';
import { THEMES, useTheme } from '../browser/theme.ts';
import { SINGLE_KEYS } from '../browser/use-shortcut.ts';
import { useSignOut } from '../components/actions.tsx';
import { IconButton } from '../components/button.tsx';
import { classNames } from '../components/class-names.ts';
import { Kbd } from '../components/kbd.tsx';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuLink, MenuSeparator } from '../components/menu.tsx';
import { type Creation, useCreations } from './creations.ts';
import { messages } from './messages.ts';

/** What the person may create, here and in the settings. Relays are rare: only the palette offers their tokens. */
export function CreateMenu({ project }: { project: string | undefined }) {
  const canEdit = useCan('editor');
  const [inProject, others] = useCreations(project);
  const elsewhere = others.filter(({ id }) => id !== 'relay-token.new');
  if (!canEdit && elsewhere.length === 0) return null;

  return (
    <Menu trigger={<IconButton icon={Plus} iconSize={17} className="size-8" label={messages.create.title} />}>
      {inProject.map(linkTo)}
      {inProject.length > 0 && elsewhere.length > 0 && <MenuSeparator />}
      {elsewhere.map(linkTo)}
      {project === undefined && elsewhere.length === 0 && (
        <MenuLink to={links.projects} label={messages.header.allProjects} />
      )}
    </Menu>
  );
}

function linkTo({ id, title, to }: Creation) {
  return <MenuLink key={id} to={to} label={title} />;
}

/** Keyboard shortcuts and documentation. */
export function HelpMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const [singleKeys, setSingleKeys] = useStoredChoice('single-keys', SINGLE_KEYS, 'on');
  const words = messages.help;

  return (
    <Menu trigger={<IconButton icon={CircleHelp} iconSize={17} className="size-8" label={words.title} />}>
      <MenuItem
        label={
          <>
            <span className="flex-1">{messages.palette.shortcuts}</span>
            <span aria-hidden>
              <Kbd keys="?" />
            </span>
          </>
        }
        onSelect={onShortcuts}
      />
      <MenuChoice
        isChosen={singleKeys === 'on'}
        onSelect={() => setSingleKeys(singleKeys === 'on' ? 'off' : 'on')}
      >
        {messages.singleKeys}
      </MenuChoice>
      <MenuSeparator />
      <MenuItem label={messages.user.documentation} onSelect={() => location.assign('/docs')} />
      <MenuItem label={words.api} onSelect={() => location.assign('/docs/api')} />
      <MenuItem label={words.languages} onSelect={() => location.assign(links.languages)} />
      <MenuSeparator />
      <ServerVersion />
    </Menu>
  );
}

/** The version of the server, with the commit that it was built from. Read when the menu is opened. */
function ServerVersion() {
  const { data } = useQuery({
    queryKey: ['version'],
    queryFn: ({ signal }) =>
      request<{ readonly version: string; readonly commit?: string }>('GET', '/healthz', { signal }),
    // An upgrade restarts the server, and this page may stay open.
    staleTime: 0,
  });
  return (
    <MenuLabel>
      {/* Its line is there before the answer, so that the menu does not grow. */}
      <span className="block min-h-4 select-text" title={data?.commit}>
        {data !== undefined && messages.help.version(data.version, data.commit?.slice(0, 12))}
      </span>
    </MenuLabel>
  );
}

const MARKS: Readonly<Record<LiveStatus, string>> = {
  open: 'bg-env-green',
  connecting: 'bg-env-gray animate-shimmer',
  lost: 'bg-env-red',
  paused: 'bg-env-gray',
};

/** Whether live updates arrive. */
export function ConnectionDot() {
  const status = useLiveStatus();
  const [word, title] = messages.connection[status];
  return (
    <span
      className="inline-flex shrink-0 items-center gap-1.5 px-1.5 text-xs text-ink-3"
      title={title}
      role="status"
    >
      <span
        aria-hidden
        className={classNames('size-2 rounded-full forced-color-adjust-none', MARKS[status])}
      />
      <span className="max-lg:sr-only">{word}</span>
    </span>
  );
}

/** The menu of the signed-in person: account, theme and sign-out. */
export function UserMenu() {
  const { name, email } = useOperator();
  const { role } = useRights();
  const [theme, setTheme] = useTheme();
  const signOut = useSignOut();

  return (
    <Menu
      trigger={
        <button
          type="button"
          className="target -mr-1.5 inline-flex h-8 shrink-0 items-center gap-1.5 rounded-md px-1.5 text-ink-2 hover:bg-hover hover:text-ink"
        >
          <CircleUser size={18} aria-hidden />
          <span className="max-w-32 truncate max-lg:sr-only">{name}</span>
        </button>
      }
    >
      <MenuLabel>
        {email} · {role}
      </MenuLabel>
      <MenuLink to={links.account} label={messages.user.account} />
      <MenuSeparator />
      <MenuLabel>{messages.user.theme}</MenuLabel>
      {THEMES.map((choice) => (
        <MenuChoice key={choice} isChosen={theme === choice} onSelect={() => setTheme(choice)}>
          {messages.user.themes[choice]}
        </MenuChoice>
      ))}
      <MenuSeparator />
      <MenuItem label={messages.user.signOut} onSelect={() => signOut.mutate()} />
    </Menu>
  );
}
