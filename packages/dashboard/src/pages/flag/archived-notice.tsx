import Archive from 'lucide-react/icons/archive';
import { useCan } from '../../api/session.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { useFlagDeeds } from './use-flag-deeds.ts';

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
