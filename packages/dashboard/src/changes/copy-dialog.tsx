import { defined } from '@halyard/protocol';
import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { isMade, isProposed, isRefusal } from '../api/api-error.ts';
import { copyStates, previewCopy } from '../api/compare.ts';
import { useCatchUp } from '../api/live.tsx';
import type { Copied, EnvironmentRecord, ProjectRecord } from '../api/types.ts';
import { ChangedFlag } from '../components/audit/state-diff.tsx';
import { EnvironmentBadge } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { DeliveryProof } from '../components/delivery-proof.tsx';
import { Dialog, DialogActions } from '../components/dialog.tsx';
import { FoldedList } from '../components/folded-list.tsx';
import { RefusalNote } from '../components/form.tsx';
import { SkeletonRows } from '../components/screen-states.tsx';
import { EnvironmentSelect } from '../components/select.tsx';
import { toast } from '../components/toasts.tsx';
import { useChangeGuards, useReadOnlyReason } from './change-guards.tsx';
import { messages as dialogs } from './dialog-messages.ts';
import { NoteField } from './note-field.tsx';
import { ProtectedNote } from './protected-note.tsx';
import { useUndoOffer } from './undo-change.ts';

/**
 * Copies states from one environment to another as one change. It previews what the server would do, which also asks for
 * consent if the target is protected, and previews it again if either environment has changed since.
 */
export function CopyDialog({
  project,
  from,
  to,
  keys,
  places,
  onClose,
  onCopied,
}: {
  project: string;
  from: EnvironmentRecord;
  to: EnvironmentRecord;
  keys: readonly string[];
  /** Replaces the two names at the top, if they can be selected. */
  places?: ReactNode;
  onClose: () => void;
  /** Called after copying, before `onClose`. */
  onCopied?: () => void;
}) {
  const place = { project, from: from.name, to: to.name, keys };
  const preview = useQuery({
    queryKey: ['copy-preview', place],
    queryFn: ({ signal }) => previewCopy(place, signal),
    gcTime: 0,
    staleTime: Infinity,
    retry: false,
  });

  const [note, setNote] = useState('');
  const [isCopying, setCopying] = useState(false);
  const [error, setError] = useState<unknown>();
  const { askApproval } = useChangeGuards();
  const undoOf = useUndoOffer();
  const catchUp = useCatchUp();

  async function copy(shown: Copied): Promise<void> {
    setCopying(true);
    setError(undefined);
    try {
      const wanted = await askApproval({
        project,
        environments: [to],
        what: dialogs.copyTo(to.name),
        steps: shown.differences,
        note,
        canBeEmergency: true,
      });

      if (wanted === undefined) return;
      const confirmed = to.protected ? to.name : undefined;
      announceCopied(await copyStates(place, { seen: shown, confirmed, ...wanted }));
      catchUp();
      onCopied?.();
      onClose();
    } catch (refused) {
      if (isMade(refused) || isProposed(refused)) {
        onCopied?.();
        return onClose();
      }
      setError(refused);
      if (isRefusal(refused, 'revision_conflict')) await preview.refetch();
    } finally {
      setCopying(false);
    }
  }

  function announceCopied({ changed, seq }: Copied): void {
    const title = dialogs.copied(changed.length, from.name, to.name);
    toast({
      kind: 'done',
      title,
      detail: <DeliveryProof seq={seq} />,
      ...undoOf(seq, to),
    });
  }

  const shown = preview.data;
  const count = shown?.differences.length ?? 0;
  const isConflict = isRefusal(error, 'revision_conflict');

  return (
    <Dialog title={dialogs.copyTo(to.name)} onClose={onClose} className="w-[min(40rem,calc(100vw-2rem))]">
      {places ?? (
        <p className="flex flex-wrap items-center gap-x-1.5 text-ink-2">
          From <EnvironmentBadge environment={from} className="font-medium text-ink" /> to
          <EnvironmentBadge environment={to} className="font-medium text-ink" /> as one change:
        </p>
      )}

      <div className="mt-3 space-y-3">
        {to.protected && <ProtectedNote project={project} environment={to} />}
        {isConflict ? (
          <p role="alert" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
            {dialogs.copyConflict(from.name, to.name)}
          </p>
        ) : (
          <RefusalNote error={error ?? preview.error} />
        )}

        {preview.isPending && <SkeletonRows rows={Math.min(4, keys.length)} />}
        {shown && count > 0 && <DifferenceList differences={shown.differences} />}
        {shown && count === 0 && (
          <p className="rounded-md border border-line px-3 py-4 text-center text-ink-2">
            {dialogs.nothingToCopy(to.name)}
          </p>
        )}

        {count > 0 && to.approvals === 0 && (
          <NoteField value={note} isRequired={to.reasonRequired} onChange={setNote} />
        )}
      </div>

      <DialogActions>
        {/* Pressing the key that opened it once more must not confirm. */}
        <Button onClick={onClose} {...(to.protected ? { 'data-autofocus': true } : {})}>
          {dialogs.cancel}
        </Button>

        <Button
          kind="primary"
          {...(to.protected ? {} : { 'data-autofocus': true })}
          disabled={shown === undefined || count === 0 || isCopying || preview.isFetching}
          onClick={() => shown && void copy(shown)}
        >
          {isCopying
            ? dialogs.copying
            : to.approvals > 0
              ? dialogs.proposeIt
              : dialogs.copyCountTo(count, to.name)}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

/**
 * Copies flags between two environments that are selected in the dialog; `to` is the second at first. The project needs at
 * least two.
 */
export function CopyBetweenDialog({
  project: { name: project, environments },
  keys,
  to: firstTo,
  onClose,
  onCopied,
}: {
  project: ProjectRecord;
  keys: readonly string[];
  to?: string;
  onClose: () => void;
  onCopied?: () => void;
}) {
  const readOnlyReason = useReadOnlyReason();
  const targets = environments.filter((environment) => readOnlyReason(environment) === undefined);
  const [fromName, setFrom] = useState(environments.find(({ name }) => name !== firstTo)?.name);
  const [toName, setTo] = useState(firstTo);
  const from = environments.find(({ name }) => name === fromName);
  const to =
    targets.find(({ name }) => name === toName && name !== fromName) ?? targets.find((each) => each !== from);
  if (from === undefined || to === undefined) return null;

  return (
    <CopyDialog
      key={`${from.name} ${to.name}`}
      project={project}
      from={from}
      to={to}
      keys={keys}
      onClose={onClose}
      {...defined({ onCopied })}
      places={
        <p className="flex flex-wrap items-center gap-2">
          <EnvironmentSelect label="From" environments={environments} chosen={from} onChoose={setFrom} />
          <EnvironmentSelect
            label="to"
            environments={targets.filter((each) => each !== from)}
            chosen={to}
            onChoose={setTo}
          />
          <span className="text-ink-2">as one change:</span>
        </p>
      }
    />
  );
}

/** The effect of a change, flag by flag. */
function DifferenceList({ differences }: Pick<Copied, 'differences'>) {
  return (
    <FoldedList label={dialogs.whatChanges} items={differences}>
      {({ key, before, after }) => <ChangedFlag key={key} flag={key} before={before} after={after} />}
    </FoldedList>
  );
}
