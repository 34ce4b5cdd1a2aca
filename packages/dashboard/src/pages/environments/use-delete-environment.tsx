import { fetchClients } from '../../api/clients.ts';
import { deleteEnvironment } from '../../api/environments.ts';
import { queryKeys } from '../../api/query-keys.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { useDeed } from '../../changes/use-deed.tsx';
import { useConfirm } from '../../components/confirm.tsx';

/** Asks, by the environment's name, and removes it. */
export function useDeleteEnvironment(
  project: string,
): (environment: EnvironmentRecord, known: { readonly flags: number | undefined }) => Promise<void> {
  const confirm = useConfirm();
  const deed = useDeed();
  return async ({ name }, { flags }) => {
    const streams = await openStreams(project, name);
    const isConfirmed = await confirm({
      title: `Delete ${name}?`,
      body: (
        <>
          <p>
            {flags === undefined ? 'The states of all flags' : flagsText(flags)} in {name} are lost. Keys read
            nothing from it any more. {streamsText(streams)} What is scheduled for it is cancelled. It cannot
            be undone.
          </p>
          <p className="mt-2">The flags themselves stay, with their states in the other environments.</p>
        </>
      ),
      action: 'Delete the environment',
      isDangerous: true,
      typed: name,
    });
    if (!isConfirmed) return;
    await deed({
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

function streamsText(streams: number | undefined): string {
  if (streams === undefined) return 'Its open streams are closed.';
  if (streams === 0) return 'No stream is open on it.';
  return streams === 1 ? '1 open stream is closed.' : `${streams} open streams are closed.`;
}

/** Asked for afresh; the question does without where that fails. */
async function openStreams(project: string, environment: string): Promise<number | undefined> {
  try {
    const environments = await fetchClients(project);
    return environments.find((each) => each.environment === environment)?.streams;
  } catch {
    // A lost server shows itself when the environment is deleted.
    return undefined;
  }
}
