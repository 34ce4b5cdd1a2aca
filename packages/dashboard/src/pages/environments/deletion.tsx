import { useLocation } from 'wouter';
import { countOpenStreams } from '../../api/clients.ts';
import { deleteEnvironment, deleteProject } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
import { useAction } from '../../changes/actions.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { closedStreamsText } from '../../components/delivery-proof.tsx';
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
  const perform = useAction();
  const [, navigate] = useLocation();
  return async () => {
    const streams = await countOpenStreams(name);
    const names = environments.map((environment) => environment.name);
    const isConfirmed = await confirm({
      title: `Delete the project ${name}?`,
      body: (
        <p>
          Lost for good:{' '}
          {environments.length === 0 ? 'no environment' : `the environments ${names.join(', ')}`}, every flag,
          and every key, which opens nothing any more. {closedStreamsText(streams)}
        </p>
      ),
      action: 'Delete the project',
      isDangerous: true,
      typed: name,
    });
    if (!isConfirmed) return;
    const confirmed = environments.filter((environment) => environment.protected).map((each) => each.name);
    const isDone = await perform({
      run: () => deleteProject(name, confirmed),
      done: `The project ${name} is deleted`,
      failed: `The project ${name} was not deleted`,
      stale: [queryKeys.projects],
    });
    if (isDone) navigate('/?projects');
  };
}

/** Asks, by the environment's name, and removes it. */
export function useDeleteEnvironment(
  project: string,
): (environment: EnvironmentRecord, known: { readonly flags: number | undefined }) => Promise<void> {
  const confirm = useConfirm();
  const perform = useAction();
  return async ({ name }, { flags }) => {
    const streams = await countOpenStreams(project, { environment: name });
    const isConfirmed = await confirm({
      title: `Delete ${name}?`,
      body: (
        <>
          <p>
            {flags === undefined ? 'The states of all flags' : flagsText(flags)} in {name} are lost. Keys read
            nothing from it any more. {closedStreamsText(streams)} What is scheduled for it is cancelled. It
            cannot be undone.
          </p>
          <p className="mt-2">The flags themselves stay, with their states in the other environments.</p>
        </>
      ),
      action: 'Delete the environment',
      isDangerous: true,
      typed: name,
    });
    if (!isConfirmed) return;
    await perform({
      run: () => deleteEnvironment(project, name),
      done: `The environment ${name} is deleted`,
      failed: `The environment ${name} was not deleted`,
      stale: [
        queryKeys.project(project),
        queryKeys.flags(project),
        queryKeys.clients(project),
        queryKeys.schedules(project),
      ],
    });
  };
}

function flagsText(flags: number): string {
  return flags === 1 ? 'The state of 1 flag' : `The states of ${flags} flags`;
}
