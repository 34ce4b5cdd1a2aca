import { useLocation } from 'wouter';
import { fetchClients } from '../../api/clients.ts';
import { deleteProject } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-keys.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { useDeed } from '../../changes/use-deed.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';

/** The project itself, and its end. */
export function ProjectSection({ project, canChange }: { project: ProjectRecord; canChange: boolean }) {
  const remove = useDeleteProject(project);
  const { name, createdAt } = project;
  return (
    <section className="mt-8 rounded-lg border border-line bg-surface p-4">
      <h2 className="text-base font-semibold">Project {name}</h2>
      <p className="text-ink-2">
        Created <TimeAgo at={createdAt} />. Its name stands in addresses and cannot be changed.
      </p>
      {canChange && (
        <div className="mt-3 flex flex-wrap items-center justify-between gap-x-4 gap-y-2 border-t border-line pt-3">
          <p className="min-w-0 flex-1 basis-64 text-ink-2">
            Deleting it removes every environment, flag and key in it, and cannot be undone.
          </p>
          <Button kind="danger" onClick={() => void remove()}>
            Delete the project
          </Button>
        </div>
      )}
    </section>
  );
}

function useDeleteProject({ name, environments }: ProjectRecord): () => Promise<void> {
  const confirm = useConfirm();
  const deed = useDeed();
  const [, navigate] = useLocation();
  return async () => {
    const streams = await openStreams(name);
    const names = environments.map((environment) => environment.name);
    const isConfirmed = await confirm({
      title: `Delete the project ${name}?`,
      body: (
        <p>
          Lost for good:{' '}
          {environments.length === 0 ? 'no environment' : `the environments ${names.join(', ')}`}, every flag,
          and every key, which opens nothing any more. {streamsText(streams)}
        </p>
      ),
      action: 'Delete the project',
      isDangerous: true,
      typed: name,
    });
    if (!isConfirmed) return;
    const confirmed = environments.filter((environment) => environment.protected).map((each) => each.name);
    const isDone = await deed({
      run: () => deleteProject(name, confirmed),
      done: `The project ${name} is deleted`,
      failed: `The project ${name} was not deleted`,
      stale: [queryKeys.projects],
    });
    if (isDone) navigate('/?projects');
  };
}

function streamsText(streams: number | undefined): string {
  if (streams === undefined) return 'Open streams are closed.';
  if (streams === 0) return 'No stream is open on it at the moment.';
  return streams === 1 ? '1 open stream is closed.' : `${streams} open streams are closed.`;
}

/** Asked for afresh; the question does without where that fails. */
async function openStreams(project: string): Promise<number | undefined> {
  try {
    return (await fetchClients(project)).reduce((sum, { streams }) => sum + streams, 0);
  } catch {
    // A lost server shows itself when the project is deleted.
    return undefined;
  }
}
