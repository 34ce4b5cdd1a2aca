import ChevronsUpDown from 'lucide-react/icons/chevrons-up-down';
import { useLocation } from 'wouter';
import { useProjects } from '../api/projects.ts';
import { useCan } from '../api/session.ts';
import { Menu, MenuChoice, MenuItem, MenuLabel, MenuSeparator } from '../components/menu.tsx';
import { links } from './links.ts';

/** As many fit into a menu; the list of all projects has a search. */
const MOST = 12;

/** Shows the project of the screen and leads to the others. */
export function ProjectSwitcher({ project }: { project: string | undefined }) {
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
          <span className="sr-only">Project:</span>
          <span className="truncate">{project ?? 'Choose a project'}</span>
          <ChevronsUpDown size={13} className="shrink-0 text-ink-3" aria-hidden />
        </button>
      }
    >
      <MenuLabel>Projects</MenuLabel>
      {projects.slice(0, MOST).map(({ name }) => (
        <MenuChoice key={name} isChosen={name === project} onSelect={() => navigate(links.flags(name))}>
          {name}
        </MenuChoice>
      ))}
      <MenuSeparator />
      <MenuItem onSelect={() => navigate('/?projects')}>All projects</MenuItem>
      {canCreate && <MenuItem onSelect={() => navigate('/?projects&new')}>New project</MenuItem>}
    </Menu>
  );
}
