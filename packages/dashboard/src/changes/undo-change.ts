import { useCallback } from 'react';
import { revertChange } from '../api/audit.ts';
import { useCatchUp } from '../api/live.tsx';
import { DONE_MS, toastFailure } from '../components/actions.tsx';
import { announce } from '../components/live-region.tsx';
import { toast } from '../components/toasts.tsx';
import { messages } from './messages.ts';

/** Undoes a change made a moment ago; `confirmed` names the environments that the person consented to then. */
export function useUndoChange(): (seq: number, confirmed: readonly string[]) => void {
  const catchUp = useCatchUp();
  return useCallback(
    (seq, confirmed) => {
      revertChange(seq, { confirmed, note: 'Undo' }).then(
        () => {
          catchUp();
          announce(messages.undoneShort);
          toast({ kind: 'done', title: messages.undone(seq), durationMs: DONE_MS });
        },
        (error: unknown) => toastFailure(messages.undoFailed(seq), error),
      );
    },
    [catchUp],
  );
}
