import type { FlagState, StateRecord } from '../api/types.ts';
import { StateDiff } from '../components/audit/state-diff.tsx';
import { Becomes } from '../components/becomes.tsx';
import { Button } from '../components/button.tsx';
import { Dialog, DialogActions } from '../components/dialog.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
import { messages as dialogs } from './dialog-messages.ts';
import { messages } from './messages.ts';

/** A state that was changed since the person saw it. */
export interface Conflict {
  readonly key: string;
  readonly environment: string;
  /** The state in effect; `undefined` if it was removed. */
  readonly current: StateRecord | undefined;
  readonly mine: FlagState | null;
  /** Whether `mine` was typed and would be lost; a switch or an undo is simply canceled. */
  readonly isDraft: boolean;
}

/** The person's decision: cancel or keep editing, discard their version, or overwrite the current one. */
export type Resolution = 'cancel' | 'discard' | 'overwrite';

/** Shows both versions; nothing is overwritten or dropped without a decision. */
export function ConflictDialog({
  conflict: { key, environment, current, mine, isDraft },
  onAnswer,
}: {
  conflict: Conflict;
  onAnswer: (answer: Resolution) => void;
}) {
  return (
    <Dialog
      title={messages.conflictTitle}
      onClose={() => onAnswer('cancel')}
      className="w-[min(40rem,calc(100vw-2rem))]"
    >
      <p className="text-ink-2">
        <span className="font-mono text-xs wrap-anywhere text-ink">{key}</span> in{' '}
        <strong className="font-medium text-ink">{environment}</strong> {dialogs.conflictAfter}
      </p>

      <section aria-label={dialogs.differences} className="mt-3 rounded-md border border-line p-3">
        <p className="mb-2 flex flex-wrap items-center gap-x-2 font-medium">
          {dialogs.currentVersion}
          {current && <TimeAgo at={current.updatedAt} className="text-xs font-normal text-ink-3" />}
          <Becomes /> {dialogs.ownVersion}
        </p>
        <StateDiff before={current?.state} after={mine} />
      </section>

      <DialogActions>
        <Button data-autofocus onClick={() => onAnswer('cancel')}>
          {isDraft ? dialogs.keepEditing : dialogs.cancel}
        </Button>
        {isDraft && <Button onClick={() => onAnswer('discard')}>{dialogs.discardMine}</Button>}
        <Button kind="primary" onClick={() => onAnswer('overwrite')}>
          {dialogs.overwriteWithMine}
        </Button>
      </DialogActions>
    </Dialog>
  );
}
