import { useQueryClient } from '@tanstack/react-query';
import Archive from 'lucide-react/icons/archive';
import ArchiveRestore from 'lucide-react/icons/archive-restore';
import Ellipsis from 'lucide-react/icons/ellipsis';
import Trash from 'lucide-react/icons/trash-2';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { putFlag } from '../../api/flag-cache.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { api, request } from '../../api/request.ts';
import { useCan } from '../../api/session.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useAction } from '../../changes/actions.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { links } from '../../shell/links.ts';
import { ArchiveDialog } from '../flags/archive-dialog.tsx';

/** What can be done with a flag as a whole. */
export function FlagActions({ project, flag }: { project: ProjectRecord; flag: FlagRecord }) {
  const [isArchiving, setArchiving] = useState(false);
  const { restore, remove } = useFlagDeeds(project, flag);
  const canEdit = useCan('editor');
  const canDelete = useCan('admin');
  const isArchived = flag.archivedAt !== undefined;
  if (!canEdit) return null;
  return (
    <>
      <Menu
        trigger={
          <Button aria-label="More actions" className="px-2">
            <Ellipsis size={16} aria-hidden />
          </Button>
        }
      >
        {isArchived ? (
          <MenuItem onSelect={() => void restore()}>
            <ArchiveRestore size={14} aria-hidden /> Restore
          </MenuItem>
        ) : (
          <MenuItem onSelect={() => setArchiving(true)}>
            <Archive size={14} aria-hidden /> Archive…
          </MenuItem>
        )}
        <MenuItem isDangerous disabled={!isArchived || !canDelete} onSelect={() => void remove()}>
          <Trash size={14} aria-hidden />
          <span>
            Delete for good…
            {!isArchived && <span className="block text-2xs">Archive it first</span>}
            {isArchived && !canDelete && <span className="block text-2xs">Takes an administrator</span>}
          </span>
        </MenuItem>
      </Menu>
      {isArchiving && (
        <ArchiveDialog
          project={project}
          flags={[flag]}
          onClose={() => setArchiving(false)}
          onDone={() => setArchiving(false)}
        />
      )}
    </>
  );
}

/** What stands in the place of the states of a flag that is out of use. */
export function ArchivedNotice({ project, flag }: { project: ProjectRecord; flag: FlagRecord }) {
  const { restore, remove } = useFlagDeeds(project, flag);
  const canEdit = useCan('editor');
  const canDelete = useCan('admin');
  return (
    <section className="rounded-lg border border-line bg-surface p-5">
      <h2 className="flex items-center gap-2 text-lg font-semibold">
        <Archive size={18} aria-hidden className="text-ink-3" /> Out of use
      </h2>
      <p className="mt-1 max-w-xl text-ink-2">
        Archived {flag.archivedAt !== undefined && <TimeAgo at={flag.archivedAt} />}. No client gets this
        flag: code that asks for it gets its defaults. Its states are kept, and restoring puts them back.
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        {canEdit && (
          <Button kind="primary" onClick={() => void restore()}>
            Restore
          </Button>
        )}
        {canDelete && <Button onClick={() => void remove()}>Delete for good…</Button>}
      </div>
    </section>
  );
}

/** Taking an archived flag back into use, and away for good. Each asks before. */
function useFlagDeeds(project: ProjectRecord, flag: FlagRecord) {
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
