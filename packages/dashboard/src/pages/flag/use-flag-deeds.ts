import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { putFlag } from '../../api/flag-cache.ts';
import { queryKeys } from '../../api/query-keys.ts';
import { api, request } from '../../api/request.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { useDeed } from '../../changes/use-deed.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { links } from '../../shell/links.ts';

/** Taking a flag out of use, back into it, and away for good. Each asks before. */
export function useFlagDeeds(project: ProjectRecord, flag: FlagRecord) {
  const queries = useQueryClient();
  const confirm = useConfirm();
  const deed = useDeed();
  const { askConsent } = useChangeGuards();
  const [, navigate] = useLocation();
  const { key } = flag;
  const path = api`projects/${project.name}/flags/${key}`;
  const guarded = project.environments.filter((environment) => environment.protected);
  const stale = [queryKeys.flags(project.name), queryKeys.archivedFlags(project.name)];

  async function archive(): Promise<void> {
    const places = Object.keys(flag.environments);
    const isMeant = await confirm({
      title: `Archive ${key}?`,
      body: `Clients in ${list(places)} stop getting it at once, and code falls back to its defaults. Its states are kept, and restoring puts them back.`,
      action: 'Archive',
    });
    if (!isMeant) return;
    for (const environment of guarded) {
      const before = flag.environments[environment.name]?.state;
      const steps = [{ key, before, after: null }];
      if (before !== undefined && !(await askConsent({ project: project.name, environment, steps }))) return;
    }
    await move('archive', `${key} is archived`);
  }

  async function restore(): Promise<void> {
    const isMeant = await confirm({
      title: `Restore ${key}?`,
      body: 'Its states are put back in every environment where it had one, and clients get it again at once.',
      action: 'Restore',
    });
    if (isMeant) await move('restore', `${key} is in use again`);
  }

  async function move(how: 'archive' | 'restore', done: string): Promise<void> {
    const confirmed = guarded.map(({ name }) => name);
    await deed({
      run: async () =>
        putFlag(queries, project.name, await request<FlagRecord>('POST', `${path}/${how}`, { confirmed })),
      done,
      failed: `${key} was not ${how}d`,
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
    const isDone = await deed({
      run: () => request<undefined>('DELETE', path),
      done: `${key} is deleted`,
      failed: `${key} was not deleted`,
      stale,
    });
    if (isDone) navigate(links.flags(project.name));
  }

  return { archive, restore, remove };
}

function list(places: readonly string[]): string {
  if (places.length === 0) return 'no environment';
  return new Intl.ListFormat('en').format(places);
}
