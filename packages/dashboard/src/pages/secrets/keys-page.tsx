import KeyRound from 'lucide-react/icons/key-round';
import { useParams } from 'wouter';
import { useKeys } from '../../api/keys.ts';
import { useProject } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import { ListScreen } from '../../components/list-screen.tsx';
import { bothOf } from '../../components/screen-states.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyList } from './key-list.tsx';
import { keyTexts } from './messages.tsx';

/** The screen "Keys": the keys with which applications read a project's flags. */
export function KeysPage() {
  const { project: name = '' } = useParams<{ project: string }>();
  const project = useProject(name);
  const keys = useKeys(name);
  const canChange = useCan('admin');

  return (
    <ListScreen
      texts={keyTexts}
      project={name}
      command="key.new"
      reading={bothOf(project, keys)}
      isEmpty={([, list]) => list.length === 0}
      icon={KeyRound}
      canCreate={canChange}
      isReady={project.data !== undefined}
      dialog={(stop) => project.data && <CreateKeyDialog project={project.data} onClose={stop} />}
    >
      {([found, list]) => <KeyList project={found} keys={list} />}
    </ListScreen>
  );
}
