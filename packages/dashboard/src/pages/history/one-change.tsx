import ArrowLeft from 'lucide-react/icons/arrow-left';
import SearchX from 'lucide-react/icons/search-x';
import { useMemo, useState } from 'react';
import { Link } from 'wouter';
import { useOneChange } from '../../api/audit.ts';
import { useCan } from '../../api/session.ts';
import { links } from '../../browser/links.ts';
import { RevertDialog } from '../../changes/revert-dialog.tsx';
import { EmptyState, SkeletonRows } from '../../components/screen-states.tsx';
import { ChangeItem, type ListFacts } from './change-item.tsx';
import { type Change, groupChanges } from './group-changes.ts';
import { messages } from './messages.ts';
import { DayHeading } from './timeline.tsx';

/** The change that an address names, with everything that it did. */
export function OneChange({
  seq,
  project,
}: {
  seq: string;
  /** `undefined` in the audit log. */
  project: string | undefined;
}) {
  const { data: entries, error } = useOneChange(seq);
  const days = useMemo(() => groupChanges(entries ?? []), [entries]);
  const canRevert = useCan('editor');
  const [reverted, setReverted] = useState<Change>();
  const list: ListFacts = {
    showsProject: project === undefined,
    isFresh: () => false,
    onRevert: canRevert ? setReverted : undefined,
  };
  const path = project === undefined ? links.audit : links.history(project);
  const [first] = days;

  return (
    <>
      <p className="mb-2 flex flex-wrap gap-x-4">
        <Link href={path} className="inline-flex min-h-6 items-center gap-1.5 text-accent hover:underline">
          <ArrowLeft size={14} aria-hidden /> {messages.allChanges}
        </Link>
        {first !== undefined && (
          <Link
            href={`${path}?from=${first.day}&until=${first.day}`}
            className="inline-flex min-h-6 items-center text-accent hover:underline"
          >
            {messages.sameDay}
          </Link>
        )}
      </p>

      {error !== null && entries === undefined ? (
        <EmptyState icon={SearchX} title={messages.noSuchChange(seq)}>
          {messages.noSuchChangeWhy}
        </EmptyState>
      ) : entries === undefined ? (
        <SkeletonRows rows={2} />
      ) : (
        days.map(({ day, changes }) => (
          <section key={day} aria-label={day}>
            <DayHeading day={day} />
            <ol className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface">
              {changes.map((change) => (
                <li key={change.first.id}>
                  <ChangeItem change={change} list={list} isOpenAtFirst />
                </li>
              ))}
            </ol>
          </section>
        ))
      )}

      {reverted?.first.project !== undefined && (
        <RevertDialog
          project={reverted.first.project}
          seq={reverted.seq}
          onClose={() => setReverted(undefined)}
        />
      )}
    </>
  );
}
