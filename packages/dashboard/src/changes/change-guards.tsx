import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
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
  | { kind: 'guard'; change: GuardedChange; answer: (answer: 'no' | 'once' | 'for a while') => void }
  | { kind: 'conflict'; conflict: Conflict; answer: (answer: 'theirs' | 'mine') => void };

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
  const askConsent = useCallback(async (change: GuardedChange) => {
    if (!change.environment.protected || isQuiet(change)) return true;
    const { promise, resolve } = Promise.withResolvers<'no' | 'once' | 'for a while'>();
    setOpen({ kind: 'guard', change, answer: resolve });
    const answer = await promise;
    setOpen(undefined);
    if (answer === 'for a while') keepQuiet(change);
    return answer !== 'no';
  }, []);
  const settleConflict = useCallback(async (conflict: Conflict) => {
    const { promise, resolve } = Promise.withResolvers<'theirs' | 'mine'>();
    setOpen({ kind: 'conflict', conflict, answer: resolve });
    const answer = await promise;
    setOpen(undefined);
    return answer;
  }, []);
  const guards = useMemo(() => ({ askConsent, settleConflict }), [askConsent, settleConflict]);
  return (
    <GuardsContext value={guards}>
      {children}
      {open?.kind === 'guard' && <ProductionGuard change={open.change} onAnswer={open.answer} />}
      {open?.kind === 'conflict' && <ConflictDialog conflict={open.conflict} onAnswer={open.answer} />}
    </GuardsContext>
  );
}
