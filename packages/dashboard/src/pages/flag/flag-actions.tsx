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
import { links } from '../../browser/links.ts';
import { useConfirmedAction } from '../../components/actions.tsx';
import { Button } from '../../components/button.tsx';
import { Menu, MenuItem } from '../../components/menu.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { ArchiveDialog } from '../../flags/archive-dialog.tsx';
import { messages } from './messages.tsx';

const words = messages.actions;

/** The menu of actions on the whole flag. */
export function FlagActions({ project, flag }: { project: ProjectRecord; flag: FlagRecord }) {
  const [isArchiving, setArchiving] = useState(false);
  const { restore, remove } = useFlagActions(project, flag);
  const canEdit = useCan('editor');
  const canDelete = useCan('admin');
  const isArchived = flag.archivedAt !== undefined;
  const obstacle = !isArchived ? words.archiveFirst : canDelete ? undefined : words.needsAdmin;
  if (!canEdit) return null;

  return (
    <>
      <Menu
        trigger={
          <Button aria-label={words.menu} className="px-2">
            <Ellipsis size={16} aria-hidden />{' '}
          </Button>
        }
      >
        {isArchived ? (
          <MenuItem icon={ArchiveRestore} label={words.restore} onSelect={() => void restore()} />
        ) : (
          <MenuItem icon={Archive} label={words.archive} onSelect={() => setArchiving(true)} />
        )}
        <MenuItem
          icon={Trash}
          isDangerous
          label={
            <span>
              {words.delete}
              {obstacle !== undefined && <span className="block text-2xs">{obstacle}</span>}
            </span>
          }
          disabled={obstacle !== undefined}
          onSelect={() => void remove()}
        />
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

/** Shown instead of the states of an archived flag. */
export function ArchivedNotice({ project, flag }: { project: ProjectRecord; flag: FlagRecord }) {
  const { restore, remove } = useFlagActions(project, flag);
  const canEdit = useCan('editor');
  const canDelete = useCan('admin');

  return (
    <section className="rounded-lg border border-line bg-surface p-5">
      <h2 className="flex items-center gap-2 text-lg font-semibold">
        <Archive size={18} aria-hidden className="text-ink-3" /> {words.archivedTitle}
      </h2>
      <p className="mt-1 max-w-xl text-ink-2">
        {words.archivedOn} {flag.archivedAt !== undefined && <TimeAgo at={flag.archivedAt} />}.{' '}
        {words.archivedEffect}
      </p>
      <div className="mt-3 flex flex-wrap gap-2">
        {canEdit && (
          <Button kind="primary" onClick={() => void restore()}>
            {words.restore}
          </Button>
        )}
        {canDelete && <Button onClick={() => void remove()}>{words.delete}</Button>}
      </div>
    </section>
  );
}

/** Restores or deletes an archived flag, after a question. */
function useFlagActions(project: ProjectRecord, flag: FlagRecord) {
  const queries = useQueryClient();
  const perform = useConfirmedAction();
  const [, navigate] = useLocation();
  const { key } = flag;
  const path = api`projects/${project.name}/flags/${key}`;
  const guarded = project.environments.filter((environment) => environment.protected);
  const stale = [queryKeys.flags(project.name), queryKeys.archivedFlags(project.name)];

  const restore = () =>
    perform({
      ...words.restoring(key),
      run: async () => {
        const confirmed = guarded.map(({ name }) => name);
        putFlag(queries, project.name, await request<FlagRecord>('POST', `${path}/restore`, { confirmed }));
      },
      stale,
    });

  async function remove(): Promise<void> {
    const isDone = await perform({
      ...words.deleting(key),
      isDangerous: true,
      typed: key,
      run: () => request<undefined>('DELETE', path),
      stale,
    });
    if (isDone) navigate(links.flags(project.name));
  }

  return { restore, remove };
}
