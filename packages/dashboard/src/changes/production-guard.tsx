import { type ReactNode, useState } from 'react';
import { useRollouts } from '../api/rollouts.ts';
import type { EnvironmentRecord, FlagState } from '../api/types.ts';
import { ChangedFlag } from '../components/audit/state-diff.tsx';
import { Button } from '../components/button.tsx';
import { Dialog, DialogActions } from '../components/dialog.tsx';
import { CheckField } from '../components/field.tsx';
import { useForm } from '../components/form.tsx';
import { differingFields } from '../components/state-summary.tsx';
import { messages } from './dialog-messages.ts';
import { NoteField } from './note-field.tsx';
import { ProtectedNote } from './protected-note.tsx';

/** A change that needs a person's consent, because its environment is protected, or a reason. */
export interface GuardedChange {
  readonly project: string;
  readonly environment: EnvironmentRecord;
  /** The changes, flag by flag. */
  readonly steps: readonly {
    readonly key: string;
    readonly before?: FlagState | null | undefined;
    readonly after?: FlagState | null | undefined;
  }[];
  /** Shown instead of the changes, such as all steps of a rollout plan. */
  readonly list?: ReactNode;
  /** The time of a scheduled change, in words; absent for an immediate one. Its form has a field for the reason. */
  readonly scheduledFor?: string;
  /** The reason, if the person has given one already. */
  readonly note?: string | undefined;
}

/** The answer of a person who consents. */
export interface GuardAnswer {
  readonly note: string | undefined;
  /** Whether the question is paused for a while. */
  readonly pauses: boolean;
}

/** Shows what is about to change, where, how, and how many clients are connected. */
export function ProductionGuard({
  change: { project, environment, steps, list, scheduledFor, note: given = '' },
  onAnswer,
}: {
  change: GuardedChange;
  /** `undefined`: no consent. */
  onAnswer: (answer: GuardAnswer | undefined) => void;
}) {
  const [pauses, setPausing] = useState(false);
  const [note, setNote] = useState(given);

  const first = steps[0];
  const what = steps.length === 1 && first !== undefined ? first.key : messages.flags(steps.length);
  const isLater = scheduledFor !== undefined;
  const { reasonRequired } = environment;
  const asksReason = given === '' && (reasonRequired || !isLater);
  const form = useForm({
    problems: { note: reasonRequired && note.trim() === '' ? messages.noteMissing : undefined },
    submit: () => onAnswer({ note: note.trim() === '' ? undefined : note.trim(), pauses }),
  });
  const where = `${what} in ${environment.name}`;
  const title = isLater ? messages.schedule(where, scheduledFor) : messages.change(where);
  const idle = isLater
    ? steps.filter(({ before, after }) => differingFields(before, after).length === 0)
    : [];

  return (
    <Dialog title={title} onClose={() => onAnswer(undefined)} isQuestion>
      <div data-description>
        {environment.protected && (
          <ProtectedNote project={project} environment={environment} isLater={isLater} />
        )}
        {idle.length > 0 && (
          <p className="mt-3 text-ink-2">
            {idle.length === steps.length
              ? messages.nothingToDo
              : messages.nothingToDoFor(idle.length, steps.length)}
          </p>
        )}

        {list === undefined && <PausedPlans project={project} environment={environment} steps={steps} />}
        <div className="mt-3">{list ?? <StepList steps={steps} />}</div>
      </div>

      <form className="mt-3" {...form.props}>
        <div className="flex flex-col gap-3 empty:hidden">
          {given !== '' && (
            <p className="break-words text-ink-2">
              {messages.noteGiven} <q className="text-ink">{given}</q>
            </p>
          )}
          {asksReason && (
            <NoteField
              value={note}
              isRequired={reasonRequired}
              error={form.problem('note')}
              onChange={setNote}
            />
          )}
          {environment.protected && (
            <CheckField label={messages.pauseGuard} isChecked={pauses} onChange={setPausing} />
          )}
        </div>

        <DialogActions>
          {/* Pressing the key that opened it once more must not confirm. A required reason comes first. */}
          <Button data-autofocus onClick={() => onAnswer(undefined)}>
            {messages.cancel}
          </Button>
          <Button type="submit" kind="primary">
            {isLater ? messages.scheduleIn(environment.name) : messages.changeIn(environment.name)}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** How many steps are listed. */
const MOST = 6;

/** The changes, flag by flag. */
export function StepList({ steps }: Pick<GuardedChange, 'steps'>) {
  return (
    <ul className="divide-y divide-line rounded-md border border-line">
      {steps.slice(0, MOST).map(({ key, before, after }) => (
        <ChangedFlag key={key} flag={key} before={before} after={after} />
      ))}
      {steps.length > MOST && <li className="px-3 py-2 text-ink-2">{messages.more(steps.length - MOST)}</li>}
    </ul>
  );
}

/** Says which rollout plans the change pauses. */
export function PausedPlans({
  project,
  environment,
  steps,
}: Pick<GuardedChange, 'project' | 'environment' | 'steps'>) {
  const { data = [] } = useRollouts(project, { status: 'open' });
  const keys = new Set(steps.map(({ key }) => key));
  return data
    .filter(
      (plan) => plan.status === 'running' && plan.environment === environment.name && keys.has(plan.flag),
    )
    .map(({ id, flag }) => (
      <p key={id} role="note" className="mt-3 text-warn">
        {messages.pausesPlan(flag)}
      </p>
    ));
}
