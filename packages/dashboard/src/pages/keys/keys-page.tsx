import KeyRound from 'lucide-react/icons/key-round';
import Plus from 'lucide-react/icons/plus';
import { useCallback, useState } from 'react';
import { useParams } from 'wouter';
import { type KeyRecord, useKeys } from '../../api/keys.ts';
import { useProject } from '../../api/projects.ts';
import { useCan } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Page, ReadOnlyNote } from '../../components/page.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { useCreateCommand } from '../../shell/commands.tsx';
import { CreateKeyDialog } from './create-key-dialog.tsx';
import { KeyList } from './key-list.tsx';

/** The keys with which applications read a project's flags. */
export function KeysPage() {
  const { project: name = '' } = useParams<{ project: string }>();
  const project = useProject(name);
  const keys = useKeys(name);
  const canChange = useCan('admin');
  const [isCreating, setCreating] = useState(false);
  const start = useCallback(() => setCreating(true), []);
  useCreateCommand({ id: 'key.new', title: 'New key', isAllowed: canChange, run: start });
  const error = project.error ?? keys.error;
  if (error !== null && (project.data === undefined || keys.data === undefined)) {
    const retry = () => void Promise.all([project.refetch(), keys.refetch()]);
    return <Problem error={error} onRetry={retry} />;
  }
  const create = canChange && (
    <Button kind="primary" disabled={project.data === undefined} onClick={start}>
      <Plus size={15} aria-hidden /> New key
    </Button>
  );
  return (
    <Page
      title={`Keys · ${name}`}
      heading="Keys"
      actions={keys.data?.length !== 0 && create}
      intro="An application reads flags with a key. Give each application its own, so that one can be revoked without the others."
    >
      <ReadOnlyNote>Making and revoking keys</ReadOnlyNote>
      {keys.data === undefined || project.data === undefined ? (
        <SkeletonRows />
      ) : keys.data.length === 0 ? (
        <EmptyState icon={<KeyRound size={20} aria-hidden />} title="No key yet" action={create}>
          Make one, put it into your application's environment as{' '}
          <code className="font-mono text-xs text-ink">HALYARD_KEY</code>, and the application reads the flags
          of the environments that you choose.
        </EmptyState>
      ) : (
        <KeyList project={project.data} keys={sorted(keys.data)} canChange={canChange} />
      )}
      {isCreating && project.data !== undefined && (
        <CreateKeyDialog project={project.data} onClose={() => setCreating(false)} />
      )}
    </Page>
  );
}

/** Those that work first, the newest of each first. */
function sorted(keys: readonly KeyRecord[]): readonly KeyRecord[] {
  const rank = ({ status }: KeyRecord) => (status === 'active' ? 0 : 1);
  return keys.toSorted((a, b) => rank(a) - rank(b) || Date.parse(b.createdAt) - Date.parse(a.createdAt));
}
