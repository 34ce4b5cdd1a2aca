import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { toast } from '../components/toasts.tsx';
import { toastFailure } from './toast-failure.tsx';

/** There is nothing to undo, and on a telephone the message stands before buttons. */
const DONE_MS = 4_000;

/** Something that is done with one click, and needs no form to show what went wrong. */
export interface Deed {
  readonly run: () => Promise<unknown>;
  /** What to say when it is done, as "The key website was revoked". */
  readonly done: string;
  /** What to say when it is not, as "The key website was not revoked". */
  readonly failed: string;
  /** The lists that it touches. */
  readonly stale: readonly QueryKey[];
}

/** Does something and says how it went; resolves with whether it was done. */
export function useDeed(): (deed: Deed) => Promise<boolean> {
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
