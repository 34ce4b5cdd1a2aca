import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { createQuestionSlot } from '../components/question-slot.ts';
import { type Conflict, ConflictDialog, type Resolution } from './conflict-dialog.tsx';
import { type GuardedChange, ProductionGuard } from './production-guard.tsx';
import { isQuiet, keepQuiet } from './quiet-time.ts';

interface Guards {
  /** Asks before a change of a protected environment; `true` at once for any other. */
  readonly askConsent: (change: GuardedChange) => Promise<boolean>;
  /** Shows both versions of a state; resolves with the person's decision, `cancel` where there is none. */
  readonly settleConflict: (conflict: Conflict) => Promise<Resolution>;
}

type Consent = 'no' | 'once' | 'for a while';

type Open =
  | { kind: 'guard'; id: number; change: GuardedChange; answer: (answer: Consent) => void }
  | { kind: 'conflict'; id: number; conflict: Conflict; answer: (answer: Resolution) => void };

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
  const [slot] = useState(() => createQuestionSlot<Open>(setOpen));
  const askConsent = useCallback(
    async (change: GuardedChange) => {
      if (!change.environment.protected || isQuiet(change)) return true;
      const answer = await slot.ask<Consent>(
        (give, id) => ({ kind: 'guard', id, change, answer: give }),
        'no',
      );
      if (answer === 'for a while') keepQuiet(change);
      return answer !== 'no';
    },
    [slot],
  );
  const settleConflict = useCallback(
    (conflict: Conflict) =>
      slot.ask<Resolution>((give, id) => ({ kind: 'conflict', id, conflict, answer: give }), 'cancel'),
    [slot],
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
