import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { putFlag } from '../../api/flag-cache.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { api, request } from '../../api/request.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useAction } from '../../changes/actions.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { links } from '../../shell/links.ts';

/** Taking an archived flag back into use, and away for good. Each asks before. */
export function useFlagDeeds(project: ProjectRecord, flag: FlagRecord) {
  const queries = useQueryClient();
  const confirm = useConfirm();
  const perform = useAction();
  const [, navigate] = useLocation();
  const { key } = flag;
  const path = api`projects/${project.name}/flags/${key}`;
  const guarded = project.environments.filter((environment) => environment.protected);
  const stale = [queryKeys.flags(project.name), queryKeys.archivedFlags(project.name)];

  async function restore(): Promise<void> {
    const isMeant = await confirm({
      title: `Restore ${key}?`,
      body: 'Its states are put back in every environment where it had one, and clients get it again at once.',
      action: 'Restore',
    });
    if (!isMeant) return;
    const confirmed = guarded.map(({ name }) => name);
    await perform({
      run: async () =>
        putFlag(queries, project.name, await request<FlagRecord>('POST', `${path}/restore`, { confirmed })),
      done: `${key} is in use again`,
      failed: `${key} was not restored`,
      stale,
    });
  }

  async function remove(): Promise<void> {
    const isMeant = await confirm({
      title: `Delete ${key} for good?`,
      body: 'The flag and the states it was archived with go. The history keeps what it was.',
      action: 'Delete',
      isDangerous: true,
      typed: key,
    });
    if (!isMeant) return;
    const isDone = await perform({
      run: () => request<undefined>('DELETE', path),
      done: `${key} is deleted`,
      failed: `${key} was not deleted`,
      stale,
    });
    if (isDone) navigate(links.flags(project.name));
  }

  return { restore, remove };
}
