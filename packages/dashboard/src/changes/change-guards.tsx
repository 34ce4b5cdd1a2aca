import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react';
import { type Conflict, ConflictDialog } from './conflict-dialog.tsx';
import { type GuardedChange, ProductionGuard } from './production-guard.tsx';
import { isQuiet, keepQuiet } from './quiet-time.ts';

interface Guards {
  /** Asks before a change of a protected environment; `true` at once for any other. */
  readonly askConsent: (change: GuardedChange) => Promise<boolean>;
  /** Shows both versions of a state; resolves with which to keep. */
  readonly settleConflict: (conflict: Conflict) => Promise<'theirs' | 'mine'>;
}

type Open =
  | {
      kind: 'guard';
      id: number;
      change: GuardedChange;
      answer: (answer: 'no' | 'once' | 'for a while') => void;
    }
  | { kind: 'conflict'; id: number; conflict: Conflict; answer: (answer: 'theirs' | 'mine') => void };

const GuardsContext = createContext<Guards | undefined>(undefined);

/** The two questions that a change may raise. */
export function useChangeGuards(): Guards {
  const guards = useContext(GuardsContext);
  if (guards === undefined) throw new Error('changes are made inside of ChangeGuards');
  return guards;
}

/** Shows the questions that changes of what is inside raise. */
export function ChangeGuards({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState<Open>();
  const latest = useRef<Open>(undefined);
  const lastId = useRef(0);
  /** Shows a question in the place of the one before, which nobody can answer any more: nothing is done. */
  const show = useCallback((next: Open | undefined) => {
    const before = latest.current;
    latest.current = next;
    setOpen(next);
    if (before?.kind === 'guard') before.answer('no');
    if (before?.kind === 'conflict') before.answer('theirs');
  }, []);
  const askConsent = useCallback(
    async (change: GuardedChange) => {
      if (!change.environment.protected || isQuiet(change)) return true;
      const { promise, resolve } = Promise.withResolvers<'no' | 'once' | 'for a while'>();
      const question: Open = { kind: 'guard', id: ++lastId.current, change, answer: resolve };
      show(question);
      const answer = await promise;
      if (latest.current === question) show(undefined);
      if (answer === 'for a while') keepQuiet(change);
      return answer !== 'no';
    },
    [show],
  );
  const settleConflict = useCallback(
    async (conflict: Conflict) => {
      const { promise, resolve } = Promise.withResolvers<'theirs' | 'mine'>();
      const question: Open = { kind: 'conflict', id: ++lastId.current, conflict, answer: resolve };
      show(question);
      const answer = await promise;
      if (latest.current === question) show(undefined);
      return answer;
    },
    [show],
  );
  const guards = useMemo(() => ({ askConsent, settleConflict }), [askConsent, settleConflict]);
  return (
    <GuardsContext value={guards}>
      {children}
      {open?.kind === 'guard' && (
        <ProductionGuard key={open.id} change={open.change} onAnswer={open.answer} />
      )}
      {open?.kind === 'conflict' && (
        <ConflictDialog key={open.id} conflict={open.conflict} onAnswer={open.answer} />
      )}
    </GuardsContext>
  );
}
