import type { ReactNode } from 'react';
import type { FlagState, StateRecord } from '../api/types.ts';
import { Button } from '../components/button.tsx';
import { Dialog, DialogActions } from '../components/dialog.tsx';
import { ScrollRegion } from '../components/scroll-region.tsx';
import { TimeAgo } from '../components/time-ago.tsx';

/** A state is not what somebody saw when they changed it. */
export interface Conflict {
  readonly key: string;
  readonly environment: string;
  /** What stands there now; `undefined` when it was removed. */
  readonly theirs: StateRecord | undefined;
  readonly mine: FlagState | null;
  /** Whether what stands there was written by the same person, as from another tab. */
  readonly isOwn: boolean;
}

/** Shows both versions; nothing is overwritten without a decision. */
export function ConflictDialog({
  conflict: { key, environment, theirs, mine, isOwn },
  onAnswer,
}: {
  conflict: Conflict;
  onAnswer: (answer: 'theirs' | 'mine') => void;
}) {
  return (
    <Dialog
      title={isOwn ? 'You have changed this since' : 'Somebody else changed this'}
      onClose={() => onAnswer('theirs')}
      className="w-[min(40rem,calc(100vw-2rem))]"
    >
      <p className="text-ink-2">
        <span className="font-mono text-xs break-all text-ink">{key}</span> in{' '}
        <strong className="font-medium text-ink">{environment}</strong> is not what it was any more. Nothing
        was written.
      </p>
      <div className="mt-3 grid gap-3 sm:grid-cols-2">
        <Version title={isOwn ? 'In effect now' : 'Theirs, in effect now'} state={theirs?.state}>
          {theirs && <TimeAgo at={theirs.updatedAt} className="text-xs text-ink-3" />}
        </Version>
        <Version title={isOwn ? 'Instead of it' : 'Yours'} state={mine} />
      </div>
      <DialogActions>
        <Button data-autofocus onClick={() => onAnswer('theirs')}>
          {isOwn ? 'Keep it' : 'Keep theirs'}
        </Button>
        <Button kind="primary" onClick={() => onAnswer('mine')}>
          {isOwn ? 'Write over it' : 'Write mine over it'}
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
      <ScrollRegion label={title} className="mt-2 max-h-60 overflow-auto">
        <pre className="font-mono text-xs whitespace-pre-wrap break-all">
          {state === null || state === undefined ? 'not there' : JSON.stringify(state, undefined, 2)}
        </pre>
      </ScrollRegion>
    </section>
  );
}
