import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { useOperator } from '../api/session.ts';
import type { EnvironmentRecord } from '../api/types.ts';
import { createQuestionSlot } from '../components/question-slot.ts';
import { type Conflict, ConflictDialog, type Resolution } from './conflict-dialog.tsx';
import { type GuardedChange, ProductionGuard } from './production-guard.tsx';

interface Guards {
  /** Asks before a change of a protected environment; `true` at once for any other. */
  readonly askConsent: (change: GuardedChange) => Promise<boolean>;
  /** Shows both versions of a state; resolves with the person's decision, `cancel` where there is none. */
  readonly resolveConflict: (conflict: Conflict) => Promise<Resolution>;
}

type Consent = 'no' | 'once' | 'pause';

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
      if (!change.environment.protected || isGuardPaused(change)) return true;
      const answer = await slot.ask<Consent>(
        (give, id) => ({ kind: 'guard', id, change, answer: give }),
        'no',
      );
      if (answer === 'pause') pauseGuard(change);
      return answer !== 'no';
    },
    [slot],
  );
  const resolveConflict = useCallback(
    (conflict: Conflict) =>
      slot.ask<Resolution>((give, id) => ({ kind: 'conflict', id, conflict, answer: give }), 'cancel'),
    [slot],
  );
  const guards = useMemo(() => ({ askConsent, resolveConflict }), [askConsent, resolveConflict]);
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

/** How long nobody is asked after "don't ask again", in milliseconds. */
const QUIET_MS = 15 * 60_000;

/** What the names in the tab's storage begin with. */
const PREFIX = 'halyard.quiet.';

type Place = Pick<GuardedChange, 'project' | 'environment'>;

/** Until when nobody is asked, by environment; epoch milliseconds. For where the tab's storage is refused. */
const until = new Map<string, number>();

/** Whether the person asked not to be asked about this environment for now. It outlives a reload, not the tab. */
function isGuardPaused(place: Place): boolean {
  const name = nameOf(place);
  const leftMs = (until.get(name) ?? stored(name)) - Date.now();
  // Nobody asked for more than that: what is stored may be anything, and clocks are set back.
  return leftMs > 0 && leftMs <= QUIET_MS;
}

/** Asks no more about this environment for a quarter of an hour. */
function pauseGuard(place: Place): void {
  const name = nameOf(place);
  const end = Date.now() + QUIET_MS;
  until.set(name, end);
  try {
    sessionStorage.setItem(name, String(end));
  } catch {
    // Storage is switched off or full: it lasts as long as the page.
  }
}

/** Asks again about every environment: somebody else may be at this screen now. */
export function resumeGuards(): void {
  until.clear();
  try {
    for (const name of Object.keys(sessionStorage)) {
      if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
    }
  } catch {
    // As above.
  }
}

/** 0 where nothing is kept; what is no number is never later than now. */
function stored(name: string): number {
  try {
    return Number(sessionStorage.getItem(name));
  } catch {
    // As above.
    return 0;
  }
}

function nameOf({ project, environment }: Place): string {
  return `${PREFIX}${project}/${environment.name}`;
}

/** Tells why the person who is signed in may not change states of an environment; `undefined` when they may. */
export function useReadOnlyReason(): (environment: EnvironmentRecord) => string | undefined {
  const { role, canChangeProtected } = useOperator();
  return useCallback(
    (environment) => {
      if (role === 'viewer') return 'Your role is viewer: you can look, but not change anything.';
      if (environment.protected && !canChangeProtected && role !== 'admin')
        return `${environment.name} is protected, and your account may not change protected environments.`;
      return undefined;
    },
    [role, canChangeProtected],
  );
}
