import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { isMade, isProposed, isRefusal, isSessionEnd } from '../api/api-error.ts';
import { signOut } from '../api/session.ts';
import { type Question, useConfirm } from './confirm.tsx';
import { messages } from './messages.ts';
import { ErrorText } from './screen-states.tsx';
import { toast } from './toasts.tsx';

/** Short, because there is nothing to undo, and on a phone the message covers buttons. */
export const DONE_MS = 4_000;

/** Something that one click does, without a form that could show what went wrong. */
interface Action {
  readonly run: () => Promise<unknown>;
  /** The message on success, such as "Key website revoked". */
  readonly done: string;
  /** The message on failure, such as "Key website could not be revoked". */
  readonly failed: string;
  /** The lists to read again. */
  readonly stale: readonly QueryKey[];
}

/** Runs an action and reports how it went; resolves with whether it succeeded. */
export function useAction(): (action: Action) => Promise<boolean> {
  const queries = useQueryClient();
  return useCallback(
    async ({ run, done, failed, stale }) => {
      try {
        await run();
      } catch (error) {
        toastFailure(failed, error);
        return isMade(error);
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

/** Asks, then runs an action; resolves with whether it was run and succeeded. */
export function useConfirmedAction(): (action: Question & Action) => Promise<boolean> {
  const confirm = useConfirm();
  const perform = useAction();
  return async (action) => (await confirm(action)) && perform(action);
}

/** Signs out, and shows a message when that fails. */
export function useSignOut() {
  return useMutation({
    mutationFn: signOut,
    onError: (error) => toastFailure(messages.signOutFailed, error),
  });
}

/**
 * Shows that something failed, and why; nothing when the session has ended, since the sign-in dialog says so, and nothing
 * unless it is known that it failed: `LostAnswerWatch` says that. A change that was proposed has not failed.
 */
export function toastFailure(title: string, error: unknown): void {
  if (isSessionEnd(error) || isMade(error) || isProposed(error) || isRefusal(error, 'outcome_unknown'))
    return;
  toast({ kind: 'problem', title, detail: <ErrorText error={error} /> });
}
