import { countOpenStreams } from '../../api/clients.ts';
import { deleteEnvironment } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { useAction } from '../../components/actions.tsx';
import { closedStreamsText } from '../../components/closed-streams.ts';
import { useConfirm } from '../../components/confirm.tsx';
import { messages } from './messages.tsx';

/** Asks for the environment's name, then deletes it. `flags` is how many have a state in it. */
export function useDeleteEnvironment(
  project: string,
): (environment: EnvironmentRecord, flags: number | undefined) => Promise<void> {
  const perform = useAction();
  const confirm = useConfirm();
  const { askApproval } = useChangeGuards();
  return async (environment, flags) => {
    const { name } = environment;
    const streams = closedStreamsText(await countOpenStreams(project, { environment: name }));
    const { what, ...texts } = messages.deleting(name, flags, streams);

    const isSure = await confirm({ ...texts, isDangerous: true, typed: name });
    const wanted = isSure ? await askApproval({ project, environments: [environment], what }) : undefined;
    if (wanted === undefined) return;

    await perform({
      ...texts,
      run: () => deleteEnvironment(project, name, wanted),
      stale: [
        queryKeys.project(project),
        queryKeys.flags(project),
        queryKeys.clients(project),
        queryKeys.schedules(project),
      ],
    });
  };
}
