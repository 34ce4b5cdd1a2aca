import { useCan } from '../api/session.ts';
import { links, PROJECT_SETTINGS } from '../browser/links.ts';
import { classNames } from '../components/class-names.ts';
import { GRID } from '../components/page.tsx';
import { Navigation } from './navigation.tsx';

const LABEL = 'Settings of the project';
const GENERAL = 'General';

/** The links to the screens of a project's settings that the person may read, below the others. */
export function ProjectSettingsNavigation({ project }: { project: string }) {
  const isAdmin = useCan('admin');
  const screens = PROJECT_SETTINGS.filter(({ isForAdmins }) => isAdmin || !isForAdmins).map(
    ({ name, to }) => ({ name, address: to(project) }),
  );
  return (
    <div className={classNames(GRID, 'border-t border-line')}>
      <Navigation
        label={LABEL}
        screens={[{ name: GENERAL, address: links.projectSettings(project) }, ...screens]}
      />
    </div>
  );
}
