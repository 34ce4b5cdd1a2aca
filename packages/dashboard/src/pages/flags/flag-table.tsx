import Plus from 'lucide-react/icons/plus';
import { useRef, useState } from 'react';
import { useCan } from '../../api/session.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { CreateFlagDialog } from './create-flag-dialog.tsx';
import { FlagRow } from './flag-row.tsx';
import { useWindowedRows } from './use-windowed-rows.ts';

/** The table itself. */
export function FlagTable({ project, flags }: { project: ProjectRecord; flags: readonly FlagRecord[] }) {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useWindowedRows(scroller, { count: flags.length, heightPx: 52, topPx: 40 });
  const [isCreating, setCreating] = useState(false);
  const canEdit = useCan('editor');
  return (
    <div className="flex h-full flex-col">
      <div className="flex items-center justify-between gap-3 px-4 py-3">
        <h1 className="text-lg font-semibold">Flags</h1>
        {canEdit && (
          <Button kind="primary" onClick={() => setCreating(true)}>
            <Plus size={15} aria-hidden /> New flag
          </Button>
        )}
      </div>
      <div ref={scroller} className="min-h-0 flex-1 overflow-auto border-t border-line bg-surface">
        <table className="w-full border-separate border-spacing-0 text-left" aria-rowcount={flags.length + 1}>
          <thead className="sticky top-0 z-10 bg-surface">
            <tr className="h-10">
              <th scope="col" className="border-b border-line px-4 text-xs font-medium text-ink-3">
                Flag
              </th>
              {project.environments.map((environment) => (
                <th
                  key={environment.name}
                  scope="col"
                  className="border-b border-line px-3 text-xs font-medium"
                >
                  <EnvironmentBadge environment={environment} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr aria-hidden style={{ height: rows.before }} />
            {flags.slice(rows.first, rows.end).map((flag, index) => (
              <FlagRow key={flag.key} project={project} flag={flag} index={rows.first + index} />
            ))}
            <tr aria-hidden style={{ height: rows.after }} />
          </tbody>
        </table>
      </div>
      {isCreating && <CreateFlagDialog project={project} onClose={() => setCreating(false)} />}
    </div>
  );
}
