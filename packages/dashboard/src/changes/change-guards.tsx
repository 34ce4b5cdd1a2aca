import { createContext, type ReactNode, useCallback, useContext, useMemo, useState } from 'react';
import { useOperator } from '../api/session.ts';
import type { EnvironmentRecord } from '../api/types.ts';
import { createQuestionSlot } from '../components/question-slot.ts';
import { type Conflict, ConflictDialog, type Resolution } from './conflict-dialog.tsx';
import { messages } from './messages.ts';
import { type GuardedChange, ProductionGuard } from './production-guard.tsx';

interface Guards {
  /** Asks before a change of a protected environment; `true` at once for any other. */
  readonly askConsent: (change: GuardedChange) => Promise<boolean>;
  /** Shows both versions of a state; resolves with the person's decision, `cancel` by default. */
  readonly resolveConflict: (conflict: Conflict) => Promise<Resolution>;
}

type Consent = 'no' | 'once' | 'pause';

type Open =
  | { kind: 'guard'; id: number; change: GuardedChange; answer: (answer: Consent) => void }
  | { kind: 'conflict'; id: number; conflict: Conflict; answer: (answer: Resolution) => void };

const GuardsContext = createContext<Guards | undefined>(undefined);

/** The two questions that a change may need answered. */
export function useChangeGuards(): Guards {
  const guards = useContext(GuardsContext);
  if (guards === undefined) throw new Error('useChangeGuards needs ChangeGuards around it');
  return guards;
}

/** Shows the questions about changes made inside of it. */
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

/** How long "Don't ask again" lasts, in milliseconds. */
const QUIET_MS = 15 * 60_000;

/** The prefix of the names in the tab's storage. */
const PREFIX = 'halyard.quiet.';

type Place = Pick<GuardedChange, 'project' | 'environment'>;

/** When the guard resumes, by environment, in epoch milliseconds; used if the tab's storage is unavailable. */
const until = new Map<string, number>();

/** Whether the person paused the question for this environment. A pause survives a reload, but not the tab. */
function isGuardPaused(place: Place): boolean {
  const name = nameOf(place);
  const leftMs = (until.get(name) ?? stored(name)) - Date.now();
  // The stored value may be anything, and clocks are set back: never pause for longer than that.
  return leftMs > 0 && leftMs <= QUIET_MS;
}

/** Pauses the question for this environment for 15 minutes. */
function pauseGuard(place: Place): void {
  const name = nameOf(place);
  const end = Date.now() + QUIET_MS;
  until.set(name, end);
  try {
    sessionStorage.setItem(name, String(end));
  } catch {
    // Storage is unavailable or full: the pause lasts as long as the page.
  }
}

/** Ends every pause, because another person may be at this screen now. */
export function resumeGuards(): void {
  until.clear();
  try {
    for (const name of Object.keys(sessionStorage)) {
      if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
    }
  } catch {
    // Storage is unavailable.
  }
}

/** 0 if nothing is stored. Invalid values give NaN, which is never later than now. */
function stored(name: string): number {
  try {
    return Number(sessionStorage.getItem(name));
  } catch {
    // Storage is unavailable.
    return 0;
  }
}

function nameOf({ project, environment }: Place): string {
  return `${PREFIX}${project}/${environment.name}`;
}

/** Returns why the person may not change states of an environment; `undefined` if they may. */
export function useReadOnlyReason(): (environment: EnvironmentRecord) => string | undefined {
  const { role, canChangeProtected } = useOperator();
  return useCallback(
    (environment) => {
      if (role === 'viewer') return messages.viewerCannotChange;
      if (environment.protected && !canChangeProtected && role !== 'admin')
        return messages.protectedFromYou(environment.name);
      return undefined;
    },
    [role, canChangeProtected],
  );
}
