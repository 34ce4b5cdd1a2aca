import KeyRound from 'lucide-react/icons/key-round';
import { useParams } from 'wouter';
import { useKeys } from '../../api/keys.ts';
import { useProject } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import { useCreating } from '../../browser/use-search-state.ts';
import { CreateButton } from '../../components/button.tsx';
import { useCreateCommand } from '../../components/commands.tsx';
import { Page, ReadOnlyNote } from '../../components/page.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyList } from './key-list.tsx';
import { messages } from './key-messages.tsx';

/** The screen "Keys": the keys with which applications read a project's flags. */
export function KeysPage() {
  const { project: name = '' } = useParams<{ project: string }>();
  const project = useProject(name);
  const keys = useKeys(name);
  const canChange = useCan('admin');
  const { isCreating, start, stop } = useCreating();
  useCreateCommand({ id: 'key.new', title: messages.create, isAllowed: canChange, run: start });
  const error = project.error ?? keys.error;
  const retry = () => void Promise.all([project.refetch(), keys.refetch()]);
  const create = canChange && (
    <CreateButton disabled={project.data === undefined} onClick={start}>
      {messages.create}
    </CreateButton>
  );
  return (
    <Page
      title={`${messages.title} · ${name}`}
      heading={messages.title}
      actions={keys.data?.length !== 0 && create}
      intro={messages.intro}
    >
      <ReadOnlyNote>{messages.readOnly}</ReadOnlyNote>
      {keys.data === undefined || project.data === undefined ? (
        error === null ? (
          <SkeletonRows />
        ) : (
          <Problem error={error} onRetry={retry} />
        )
      ) : keys.data.length === 0 ? (
        <EmptyState icon={<KeyRound size={20} aria-hidden />} title={messages.emptyTitle} action={create}>
          {messages.empty}
        </EmptyState>
      ) : (
        <KeyList project={project.data} keys={keys.data} canChange={canChange} />
      )}
      {isCreating && canChange && project.data !== undefined && (
        <CreateKeyDialog project={project.data} onClose={stop} />
      )}
    </Page>
  );
}
