import CircleUser from 'lucide-react/icons/circle-user-round';
import { useLocation } from 'wouter';
import { useOperator, useSignOut } from '../api/session.ts';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../components/menu.tsx';
import { links } from './links.ts';
import { type Theme, useTheme } from './theme.ts';

const THEMES: readonly (readonly [Theme, string])[] = [
  ['light', 'Light'],
  ['dark', 'Dark'],
  ['system', 'As the system'],
];

/** The person who is signed in: the account, the theme, what belongs to no project, and the way out. */
export function UserMenu() {
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
      <MenuItem onSelect={() => navigate(links.account)}>Account</MenuItem>
      <MenuItem onSelect={() => navigate(links.operators)}>Operators</MenuItem>
      <MenuItem onSelect={() => navigate(links.tokens)}>Access tokens</MenuItem>
      <MenuItem onSelect={() => navigate(links.audit)}>Audit log</MenuItem>
      <MenuItem onSelect={() => location.assign('/docs')}>Documentation</MenuItem>
      <MenuSeparator />
      <MenuLabel>Theme</MenuLabel>
      {THEMES.map(([choice, label]) => (
        <MenuChoice key={choice} isChosen={theme === choice} onSelect={() => setTheme(choice)}>
          {label}
        </MenuChoice>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={() => signOut.mutate()}>Sign out</MenuItem>
    </Menu>
  );
}
