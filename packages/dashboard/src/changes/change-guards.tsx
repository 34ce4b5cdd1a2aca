import {
  createContext,
  type ReactNode,
  useCallback,
  useContext,
  useEffect,
  useState,
  useSyncExternalStore,
} from 'react';
import { onApprovals, type Wanted } from '../api/approvals.ts';
import { requiresApprovals, useEnvironments } from '../api/projects.ts';
import { useMayChangeProtected, useRights } from '../api/session.ts';
import type { EnvironmentRecord } from '../api/types.ts';
import { createWatchers } from '../browser/watchers.ts';
import { DialogPart } from '../components/dialog-part.tsx';
import { lazyPart } from '../components/lazy-part.ts';
import { SparePart } from '../components/parts.tsx';
import { createQuestionSlot, type QuestionSlot } from '../components/question-slot.ts';
import { useTimeRefresh } from '../components/time-ago.tsx';
import type { Conflict, Resolution } from './conflict-dialog.tsx';
import { messages } from './messages.ts';
import type { GuardAnswer, GuardedChange } from './production-guard.tsx';
import type { ProposedChange } from './propose-dialog.tsx';

interface Guards {
  /**
   * Asks before a change of a protected environment, and for a reason where the environment requires one and none is given;
   * consents at once to any other change. Where other people must approve, it asks to propose the change. `undefined`: no consent.
   */
  readonly askConsent: (change: GuardedChange) => Promise<Wanted | undefined>;
  /**
   * Asks to propose a change if one of its environments requires approval, or for a reason if one requires that; consents at
   * once if none does.
   */
  readonly askApproval: (change: ProposedChange) => Promise<Wanted | undefined>;
  /** Shows both versions of a state; resolves with the person's decision, `cancel` by default. */
  readonly resolveConflict: (conflict: Conflict) => Promise<Resolution>;
}

// One chunk for all questions: in the first load, each further one costs bytes.
const questions = () => import('./questions.ts');
const ConflictDialog = lazyPart(questions, 'ConflictDialog');
const ProductionGuard = lazyPart(questions, 'ProductionGuard');
const PausedGuard = lazyPart(questions, 'PausedGuard');
const ProposeDialog = lazyPart(questions, 'ProposeDialog');
const ReasonDialog = lazyPart(questions, 'ReasonDialog');

const GuardsContext = createContext<Guards | undefined>(undefined);

/** The two questions that a change may need answered. */
export function useChangeGuards(): Guards {
  const guards = useContext(GuardsContext);
  if (guards === undefined) throw new Error('useChangeGuards needs ChangeGuards around it');
  return guards;
}

/** Shows the questions about changes made inside of it. */
export function ChangeGuards({ children }: { children: ReactNode }) {
  const [open, setOpen] = useState<ReactNode>();
  const [guards] = useState(() => createGuards(createQuestionSlot<ReactNode>(setOpen)));

  useEffect(
    () =>
      onApprovals({
        ask: () => guards.propose({ environments: [] }),
        askReason: () => guards.askReason([]),
        proposed: (text) => void questions().then(({ showProposed }) => showProposed(text)),
      }),
    [guards],
  );

  return (
    <GuardsContext value={guards}>
      {children}
      {open}
    </GuardsContext>
  );
}

/** Decides which question a change needs answered, and shows it. */
function createGuards({ ask }: QuestionSlot<ReactNode>) {
  function propose(change: ProposedChange): Promise<Wanted | undefined> {
    return ask<Wanted | undefined>(undefined, (answer, id) => (
      <DialogPart key={id} title={messages.proposeTitle} onClose={() => answer(undefined)}>
        <ProposeDialog change={change} onAnswer={answer} />
      </DialogPart>
    ));
  }

  function askReason(environments: readonly EnvironmentRecord[]): Promise<Wanted | undefined> {
    return ask<Wanted | undefined>(undefined, (answer, id) => (
      <DialogPart key={id} title={messages.reasonTitle} onClose={() => answer(undefined)}>
        <ReasonDialog environments={environments} onAnswer={answer} />
      </DialogPart>
    ));
  }

  function resolveConflict(conflict: Conflict): Promise<Resolution> {
    return ask<Resolution>('cancel', (answer, id) => (
      <DialogPart key={id} title={messages.conflictTitle} onClose={() => answer('cancel')}>
        <ConflictDialog conflict={conflict} onAnswer={answer} />
      </DialogPart>
    ));
  }

  async function askApproval(change: ProposedChange): Promise<Wanted | undefined> {
    const needed = change.environments.filter(requiresApprovals);
    if (needed.length > 0) return propose({ ...change, environments: needed });
    return lackReason(change.environments, change.note)
      ? askReason(change.environments.filter(({ reasonRequired }) => reasonRequired))
      : { note: change.note };
  }

  async function askConsent(change: GuardedChange): Promise<Wanted | undefined> {
    const { environment, note } = change;
    if (environment.approvals > 0) return propose({ ...change, environments: [environment] });
    const isQuiet = !environment.protected || leftMs(change) > 0;
    if (isQuiet && !lackReason([environment], note)) return { note };

    const answer = await ask<GuardAnswer | undefined>(undefined, (give, id) => (
      <DialogPart key={id} title={messages.guardTitle} onClose={() => give(undefined)}>
        <ProductionGuard change={change} onAnswer={give} />
      </DialogPart>
    ));
    if (answer?.pauses) pauseGuard(change);
    return answer && { note: answer.note };
  }

  return { propose, askReason, askApproval, askConsent, resolveConflict };
}

/** Whether one of these environments requires a reason that the change lacks. */
function lackReason(environments: readonly EnvironmentRecord[], note = ''): boolean {
  return note.trim() === '' && environments.some(({ reasonRequired }) => reasonRequired);
}

/** How long "Don't ask again" lasts, in milliseconds. */
const QUIET_MS = 15 * 60_000;

/** The prefix of the names in the tab's storage. */
const PREFIX = 'halyard.quiet.';

interface Place {
  readonly project: string;
  readonly environment: Pick<EnvironmentRecord, 'name'>;
}

/** When the guard resumes, by environment, in epoch milliseconds; used if the tab's storage is unavailable. */
const until = new Map<string, number>();

/** How long the person has paused the question for this environment, in milliseconds. A reload keeps it; the tab's end does not. */
function leftMs(place: Place): number {
  const name = nameOf(place);
  const left = (until.get(name) ?? stored(name)) - Date.now();
  // The stored value may be anything, and clocks are set back: never pause for longer than that.
  return left > 0 && left <= QUIET_MS ? left : 0;
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
  noticePauses();
}

/** Ends the pause of one environment, or every pause: another person may be at this screen now. */
export function resumeGuards(place?: Place): void {
  const isMeant = (name: string) => (place === undefined ? name.startsWith(PREFIX) : name === nameOf(place));
  for (const name of until.keys()) if (isMeant(name)) until.delete(name);
  try {
    for (const name of Object.keys(sessionStorage)) if (isMeant(name)) sessionStorage.removeItem(name);
  } catch {
    // Storage is unavailable.
  }
  noticePauses();
}

/** How often a pause has begun or ended. */
let pauses = 0;
const { watch, tell } = createWatchers();

function noticePauses(): void {
  pauses += 1;
  tell();
}

/** Shows for which environments of a project the person has paused the question, and resumes it. */
export function PausedGuards({ project }: { project: string }) {
  useSyncExternalStore(watch, () => pauses);
  useTimeRefresh();
  const paused = useEnvironments(project)
    .map((environment) => ({ environment, left: leftMs({ project, environment }) }))
    .filter(({ left }) => left > 0);
  return paused.map(({ environment, left }) => (
    <SparePart key={environment.name}>
      <PausedGuard
        environment={environment.name}
        minutes={Math.ceil(left / 60_000)}
        onResume={() => resumeGuards({ project, environment })}
      />
    </SparePart>
  ));
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

/** Returns why the person may neither change nor propose states of an environment; `undefined` if they may. */
export function useReadOnlyReason(): (environment: EnvironmentRecord) => string | undefined {
  const { role } = useRights();
  const mayChange = useMayChangeProtected();
  return useCallback(
    (environment) => {
      if (role === 'viewer' || role === 'none') return messages.viewerCannotChange;
      // Every editor may propose.
      if (environment.protected && !mayChange && environment.approvals === 0)
        return messages.protectedFromYou(environment.name);
      return undefined;
    },
    [role, mayChange],
  );
}
