import type { ReactNode } from 'react';
import type { FlagState, StateRecord } from '../api/types.ts';
import { Button } from '../components/button.tsx';
import { Dialog, DialogActions } from '../components/dialog.tsx';
import { ScrollRegion } from '../components/tables.tsx';
import { TimeAgo } from '../components/time-ago.tsx';
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
        <span className="font-mono text-xs break-all text-ink">{key}</span> in{' '}
        <strong className="font-medium text-ink">{environment}</strong> {messages.conflictAfter}
      </p>
      <div className="mt-3 grid gap-3 sm:grid-cols-2">
        <Version title={messages.currentVersion} state={current?.state}>
          {current && <TimeAgo at={current.updatedAt} className="text-xs text-ink-3" />}
        </Version>
        <Version title={messages.ownVersion} state={mine} />
      </div>
      <DialogActions>
        <Button data-autofocus onClick={() => onAnswer('cancel')}>
          {isDraft ? messages.keepEditing : messages.cancel}
        </Button>
        {isDraft && <Button onClick={() => onAnswer('discard')}>{messages.discardMine}</Button>}
        <Button kind="primary" onClick={() => onAnswer('overwrite')}>
          {messages.overwriteWithMine}
        </Button>
      </DialogActions>
    </Dialog>
  );
}

function Version({
  title,
  state,
  children,
}: {
  title: string;
  state: FlagState | null | undefined;
  children?: ReactNode;
}) {
  return (
    <section className="rounded-md border border-line p-3">
      <h3 className="flex justify-between gap-2 font-medium">
        {title} {children}
      </h3>
      <StateJson label={title} state={state} />
    </section>
  );
}

/** A state in full, as JSON. `label` names it for screen readers. */
export function StateJson({ label, state }: { label: string; state: FlagState | null | undefined }) {
  return (
    <ScrollRegion label={label} className="mt-2 max-h-60 overflow-auto">
      <pre className="font-mono text-xs whitespace-pre-wrap break-all">
        {state === null || state === undefined ? messages.notSet : JSON.stringify(state, undefined, 2)}
      </pre>
    </ScrollRegion>
  );
}
