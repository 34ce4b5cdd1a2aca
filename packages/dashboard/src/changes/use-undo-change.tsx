import { useCallback } from 'react';
import { revertChange } from '../api/changes.ts';
import { useCatchUp } from '../api/live.tsx';
import { announce } from '../components/live-region.tsx';
import { toast } from '../components/toasts.tsx';
import { toastFailure } from './toast-failure.tsx';

/** Takes a change back that was just made: the person has consented to its environment a moment ago. */
export function useUndoChange(): (seq: number, confirmed: readonly string[]) => void {
  const catchUp = useCatchUp();
  return useCallback(
    (seq, confirmed) => {
      revertChange(seq, { confirmed, note: 'Undo' }).then(
        () => {
          catchUp();
          announce('Undone');
          toast({ kind: 'done', title: `Change ${seq} is undone`, durationMs: 4_000 });
        },
        (error: unknown) => toastFailure(`Change ${seq} was not undone`, error),
      );
    },
    [catchUp],
  );
}
