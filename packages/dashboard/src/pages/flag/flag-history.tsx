import { memo, useState } from 'react';
import type { useAudit } from '../../api/audit.ts';
import { useCan } from '../../api/session.ts';
import type { AuditEntryRecord } from '../../api/types.ts';
import { RevertDialog } from '../../changes/revert-dialog.tsx';
import { offersRevert, shownEntries } from '../../components/audit/action-text.ts';
import { AuditEntryRow } from '../../components/audit/audit-entry-row.tsx';
import { LineDeliveries, LineDelivery } from '../../components/audit/line-delivery.tsx';
import { useToggled } from '../../components/audit/toggled-rows.ts';
import { Button } from '../../components/button.tsx';
import { RefusalNote } from '../../components/form.tsx';
import { Loaded } from '../../components/screen-states.tsx';
import { Section } from '../../components/section.tsx';
import { messages } from './messages.tsx';

const words = messages.history;

/** The history of a flag, newest first, with Revert for each change. */
export function FlagHistory({ history, project }: { history: ReturnType<typeof useAudit>; project: string }) {
  const [reverting, setReverting] = useState<number>();
  const canEdit = useCan('editor');
  const entries = history.entries && shownEntries(history.entries);

  return (
    <Section title={words.title}>
      <Loaded reading={{ data: entries, error: history.error, refetch: history.refetch }} rows={3}>
        {(shown) =>
          shown.length === 0 ? (
            <p className="text-ink-3">{words.empty}</p>
          ) : (
            <LineDeliveries project={project}>
              <ol className="divide-y divide-line rounded-lg border border-line bg-surface">
                {shown.map((entry) => (
                  <li key={entry.id}>
                    <FlagEntry
                      entry={entry}
                      onRevert={canEdit && offersRevert(entry.action) ? setReverting : undefined}
                    />
                  </li>
                ))}
              </ol>
            </LineDeliveries>
          )
        }
      </Loaded>

      <RefusalNote error={history.olderError} />
      {history.hasOlder && (
        <Button className="mt-2" disabled={history.isLoadingOlder} onClick={history.loadOlder}>
          {history.isLoadingOlder ? words.loading : words.older}
        </Button>
      )}

      {reverting !== undefined && (
        <RevertDialog
          key={reverting}
          seq={reverting}
          project={project}
          onClose={() => setReverting(undefined)}
        />
      )}
    </Section>
  );
}

/** Entries never change, so a new one above renders none of the others again. */
const FlagEntry = memo(function FlagEntry({
  entry,
  onRevert,
}: {
  entry: AuditEntryRecord;
  onRevert: ((seq: number) => void) | undefined;
}) {
  const [isOpen, onToggle] = useToggled(entry.id);
  const revert = onRevert && (() => onRevert(entry.seq));
  return (
    <AuditEntryRow
      entry={entry}
      target="hidden"
      frame={{ isOpen, onToggle, onRevert: revert, fact: <LineDelivery changes={[[entry]]} /> }}
    />
  );
});
