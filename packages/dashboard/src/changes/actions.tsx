import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { isSessionEnd } from '../api/api-error.ts';
import { revertChange } from '../api/audit.ts';
import { useCatchUp } from '../api/live.tsx';
import { FormError } from '../components/field.tsx';
import { announce } from '../components/live-region.tsx';
import { ErrorText } from '../components/screen-states.tsx';
import { toast } from '../components/toasts.tsx';

/** There is nothing to undo, and on a telephone the message stands before buttons. */
const DONE_MS = 4_000;

/** Something that is done with one click, and needs no form to show what went wrong. */
interface Action {
  readonly run: () => Promise<unknown>;
  /** What to say when it is done, as "The key website was revoked". */
  readonly done: string;
  /** What to say when it is not, as "The key website was not revoked". */
  readonly failed: string;
  /** The lists that it touches. */
  readonly stale: readonly QueryKey[];
}

/** Does something and says how it went; resolves with whether it was done. */
export function useAction(): (deed: Action) => Promise<boolean> {
  const queries = useQueryClient();
  return useCallback(
    async ({ run, done, failed, stale }) => {
      try {
        await run();
      } catch (error) {
        toastFailure(failed, error);
        return false;
      } finally {
        // Also after a refusal: what is on the screen may be why.
        for (const queryKey of stale) void queries.invalidateQueries({ queryKey });
      }
      toast({ kind: 'done', title: done, durationMs: DONE_MS });
      return true;
    },
    [queries],
  );
}

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

/** Says in a message that something failed, and why. When the session has ended, only the sign-in dialog speaks. */
export function toastFailure(title: string, error: unknown): void {
  if (isSessionEnd(error)) return;
  toast({ kind: 'problem', title, detail: <ErrorText error={error} /> });
}

/** What was refused, with the page that explains it; nothing where nothing was, or where the session has ended. */
export function RefusalNote({ error }: { error: unknown }) {
  if (error === null || error === undefined || isSessionEnd(error)) return null;
  return (
    <FormError>
      <ErrorText error={error} />
    </FormError>
  );
}
