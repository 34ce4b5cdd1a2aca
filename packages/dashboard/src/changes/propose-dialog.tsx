import ShieldAlert from 'lucide-react/icons/shield-alert';
import UserCheck from 'lucide-react/icons/user-check';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Wanted } from '../api/approvals.ts';
import { differsInSwitchOnly } from '../api/flag-states.ts';
import { useCan, useMayChangeProtected } from '../api/session.ts';
import type { EnvironmentRecord, ProposalRecord } from '../api/types.ts';
import { links } from '../browser/links.ts';
import { EnvironmentBadge } from '../components/badges.tsx';
import { Button } from '../components/button.tsx';
import { Dialog, DialogActions } from '../components/dialog.tsx';
import { CheckField, TextField } from '../components/field.tsx';
import { useForm } from '../components/form.tsx';
import { ScrollRegion } from '../components/tables.tsx';
import { toast } from '../components/toasts.tsx';
import { messages as dialogs } from './dialog-messages.ts';
import { NOTE_LENGTH } from './note-field.tsx';
import { type GuardedChange, PausedPlans, StepList } from './production-guard.tsx';

const words = dialogs.propose;

/** A change that other people must approve. Without steps and list, what changes is said by the form that asks. */
export interface ProposedChange extends Partial<Omit<GuardedChange, 'environment'>> {
  /** Those that require approval; empty if that is only known from the server's refusal. */
  readonly environments: readonly EnvironmentRecord[];
  /** Names the change instead of its steps, such as "Archive new-checkout". */
  readonly what?: string;
  /** Two people change what guards an environment, and a plan or a schedule is no emergency: only steps are, by default. */
  readonly canBeEmergency?: boolean;
}

/** Shows what would change, and asks for the reason: to propose it or, where the person may, to make it in an emergency. */
export function ProposeDialog({
  change,
  onAnswer,
}: {
  change: ProposedChange;
  /** `undefined`: neither. */
  onAnswer: (answer: Wanted | undefined) => void;
}) {
  const { project = '', environments, steps = [], list, scheduledFor } = change;
  const [note, setNote] = useState(change.note ?? '');
  const [isHeld, setHeld] = useState(false);
  const [isEmergency, setEmergency] = useState(false);
  const mayBeEmergency = useMayBeEmergency(change);
  const form = useForm({
    problems: { note: note.trim() === '' ? words.noteMissing : undefined },
    submit: () => {
      const wish = isEmergency ? 'emergency' : isHeld ? 'hold' : 'propose';
      onAnswer({ note: note.trim(), wish });
    },
  });

  const names = environments.map(({ name }) => name);
  const title = words.title(change.what ?? whatOf(steps, names), scheduledFor);

  return (
    <Dialog
      title={isEmergency ? words.emergencyTitle(names) : title}
      onClose={() => onAnswer(undefined)}
      className="w-[min(40rem,calc(100vw-2rem))]"
    >
      <form {...form.props}>
        <div className="flex flex-col gap-4">
          {isEmergency ? <EmergencyNote names={names} /> : <ApprovalNote environments={environments} />}
          {list === undefined &&
            environments.map((environment) => (
              <PausedPlans key={environment.name} project={project} environment={environment} steps={steps} />
            ))}
          {list ??
            (steps.length > 0 && (
              <ScrollRegion
                label={dialogs.whatChanges}
                data-description
                className="max-h-[40vh] overflow-y-auto short:max-h-[25vh]"
              >
                <StepList steps={steps} />
              </ScrollRegion>
            ))}

          <TextField
            label={isEmergency ? words.emergencyNote : words.note}
            hint={isEmergency ? words.emergencyNoteHint : undefined}
            error={form.problem('note')}
            maxLength={NOTE_LENGTH}
            required
            data-autofocus
            value={note}
            onChange={setNote}
          />
          {!isEmergency && (
            <CheckField label={words.hold} hint={words.holdHint} isChecked={isHeld} onChange={setHeld} />
          )}
        </div>

        <DialogActions>
          {mayBeEmergency && (
            <Button
              kind="quiet"
              className={isEmergency ? 'mr-auto' : 'mr-auto text-danger!'}
              onClick={() => {
                setEmergency(!isEmergency);
                form.props.ref.current?.querySelector('input')?.focus();
              }}
            >
              {isEmergency ? words.back : words.emergency}
            </Button>
          )}
          <Button onClick={() => onAnswer(undefined)}>{dialogs.cancel}</Button>
          <Button type="submit" kind={isEmergency ? 'danger' : 'primary'}>
            {isEmergency ? words.emergencySubmit : words.submit}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** Who has to approve, and that nothing changes until then. */
function ApprovalNote({ environments }: Pick<ProposedChange, 'environments'>) {
  const needed = Math.max(1, ...environments.map(({ approvals }) => approvals));
  return (
    <div className="flex gap-2 rounded-md bg-accent-soft px-3 py-2" data-description>
      <UserCheck size={16} className="mt-0.5 shrink-0 text-accent" aria-hidden />
      <p className="flex min-w-0 flex-wrap items-center gap-x-1.5">
        {environments.map((environment) => (
          <EnvironmentBadge key={environment.name} environment={environment} className="font-medium" />
        ))}
        <span>{environments.length === 0 ? words.neededByNow : words.needed(needed)}</span>
      </p>
    </div>
  );
}

function EmergencyNote({ names }: { names: readonly string[] }) {
  return (
    <div role="alert" className="flex gap-2 rounded-md bg-danger px-3 py-2 text-surface">
      <ShieldAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
      <p className="min-w-0">{words.emergencyEffect(names)}</p>
    </div>
  );
}

/** Whether the person may make the change at once: an administrator, or where it only turns flags off. (Spec: S20.5) */
function useMayBeEmergency({
  environments,
  steps = [],
  list,
  scheduledFor,
  canBeEmergency = steps.length > 0 && list === undefined && scheduledFor === undefined,
}: ProposedChange): boolean {
  const isAdmin = useCan('admin');
  const mayChange = useMayChangeProtected();
  if (!canBeEmergency || environments.length === 0) return false;
  if (isAdmin) return true;
  const isAllowed = environments.every(({ emergencyOff }) => emergencyOff);
  return mayChange && isAllowed && steps.length > 0 && steps.every(turnsOff);
}

function turnsOff({ before, after }: GuardedChange['steps'][number]): boolean {
  return !!before && after?.enabled === false && differsInSwitchOnly(before, after);
}

function whatOf(steps: GuardedChange['steps'], names: readonly string[]): string {
  const [first] = steps;
  if (first === undefined) return words.thisChange;
  return words.in(steps.length === 1 ? first.key : dialogs.flags(steps.length), names);
}

/** Says that a change was proposed, with the way there. `text` is the proposal. */
export function showProposed(text: string): void {
  // The shape is the API's contract.
  const { id, project } = JSON.parse(text) as ProposalRecord;
  toast({
    kind: 'done',
    // Of many proposals, the message of each replaces the one before it.
    about: words.proposed,
    title: words.proposed,
    detail: (
      <>
        {words.nothingYet}{' '}
        <Link href={links.proposal(project, id)} className="text-accent underline">
          {words.see}
        </Link>
      </>
    ),
  });
}
