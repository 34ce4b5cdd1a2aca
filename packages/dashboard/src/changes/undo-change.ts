import { revertChange } from '../api/audit.ts';
import { useCatchUp } from '../api/live.tsx';
import type { EnvironmentRecord } from '../api/types.ts';
import { DONE_MS, toastFailure } from '../components/actions.tsx';
import { toast } from '../components/toasts.tsx';
import { messages } from './messages.ts';

/** The part of a toast that offers to undo change `seq`; empty without a number. */
interface UndoOffer {
  readonly action?: { readonly label: string; readonly run: () => void };
}

/** Offers to undo a change that was just made in an environment. If that is protected, the person has consented already. */
export function useUndoOffer(): (seq: number | undefined, environment: EnvironmentRecord) => UndoOffer {
  const catchUp = useCatchUp();

  function undo(seq: number, { name, protected: isProtected, reasonRequired }: EnvironmentRecord): void {
    const confirmed = isProtected ? [name] : [];
    revertChange(seq, { confirmed, note: undoNote(reasonRequired) }).then(
      () => {
        catchUp();
        toast({ kind: 'done', title: messages.undone(seq), durationMs: DONE_MS });
      },
      (error: unknown) => toastFailure(messages.undoFailed(seq), error),
    );
  }

  return (seq, environment) => {
    // That would be another emergency, or a proposal.
    if (seq === undefined || environment.approvals > 0) return {};
    return { action: { label: messages.undo, run: () => undo(seq, environment) } };
  };
}

/** The note of an undo. Where a reason is required there is no note: the server refuses that, and the person is asked. */
export function undoNote(isRequired: boolean): string | undefined {
  return isRequired ? undefined : 'Undo';
}
