import type { ReactNode } from 'react';
import type { FlagState, StateRecord } from '../api/types.ts';
import { Button } from '../components/button.tsx';
import { Dialog, DialogActions } from '../components/dialog.tsx';
import { ScrollRegion } from '../components/scroll-region.tsx';
import { TimeAgo } from '../components/time-ago.tsx';

/** A state is no longer what somebody saw when they changed it. */
export interface Conflict {
  readonly key: string;
  readonly environment: string;
  /** What stands there now; `undefined` when it was removed. */
  readonly theirs: StateRecord | undefined;
  readonly mine: FlagState | null;
}

/** Shows both versions; nothing is overwritten without a decision. */
export function ConflictDialog({
  conflict: { key, environment, theirs, mine },
  onAnswer,
}: {
  conflict: Conflict;
  onAnswer: (answer: 'theirs' | 'mine') => void;
}) {
  return (
    <Dialog
      title="This was changed meanwhile"
      onClose={() => onAnswer('theirs')}
      className="w-[min(40rem,calc(100vw-2rem))]"
    >
      <p className="text-ink-2">
        <span className="font-mono text-xs break-all text-ink">{key}</span> in{' '}
        <strong className="font-medium text-ink">{environment}</strong> is not what you saw any more. Nothing
        of yours was written.
      </p>
      <div className="mt-3 grid gap-3 sm:grid-cols-2">
        <Version title="In effect now" state={theirs?.state}>
          {theirs && <TimeAgo at={theirs.updatedAt} className="text-xs text-ink-3" />}
        </Version>
        <Version title="Yours" state={mine} />
      </div>
      <DialogActions>
        <Button data-autofocus onClick={() => onAnswer('theirs')}>
          Keep it
        </Button>
        <Button kind="primary" onClick={() => onAnswer('mine')}>
          Write mine over it
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
