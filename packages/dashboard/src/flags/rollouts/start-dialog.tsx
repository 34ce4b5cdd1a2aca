import { ROLLOUT_PRESETS, reachOf } from '@halyard/protocol';
import Plus from 'lucide-react/icons/plus';
import X from 'lucide-react/icons/x';
import { type ChangeEvent, useState } from 'react';
import { useStartRollout } from '../../api/rollout-commands.ts';
import type { EnvironmentRecord, FlagState } from '../../api/types.ts';
import { AnywayField } from '../../changes/anyway-field.tsx';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { NoteField } from '../../changes/note-field.tsx';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { ChoiceField, CONTROL, INPUT } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { Select } from '../../components/select.tsx';
import { toast } from '../../components/toasts.tsx';
import { dueText, localZone } from '../schedules/due-text.ts';
import { firstTime } from '../schedules/schedule-fields.ts';
import { messages } from './messages.ts';
import {
  type DraftStep,
  draftOf,
  endOf,
  problemOf,
  stepsOf,
  timedSteps,
  type When,
  withStep,
} from './plan-fields.ts';
import { PlanSteps } from './plan-steps.tsx';
import { stateAt } from './plan-view.tsx';

type Choice = keyof typeof messages.presets;

// `keyof`: the names of the presets are their keys.
const PRESETS = Object.keys(ROLLOUT_PRESETS) as (keyof typeof ROLLOUT_PRESETS)[];

/** Asks for the steps of a new plan: a preset one, or any other. */
export function StartDialog({
  project,
  environment,
  flagKey,
  state,
  onClose,
}: {
  project: string;
  environment: EnvironmentRecord;
  flagKey: string;
  /** The state in effect. */
  state: FlagState | undefined;
  onClose: () => void;
}) {
  const reachPct = reachOf(state);
  const [choice, setChoice] = useState<Choice>('usual');
  const [steps, setSteps] = useState(() => draftOf('usual', reachPct));
  const [note, setNote] = useState('');
  const [anyway, setAnyway] = useState(false);
  const start = useStartRollout(project);
  const { askConsent } = useChangeGuards();
  const now = Date.now();
  const problem = problemOf(steps, { now, reachPct });
  const form = useForm({
    problems: { plan: problem?.message },
    submit: async () => {
      const timed = timedSteps(stepsOf(steps), now);
      const [first] = timed;
      if (first === undefined) return;
      const after = stateAt(state, first.rolloutPct);
      const { dueAt } = first;
      const scheduledFor =
        dueAt === undefined ? {} : { scheduledFor: dueText(new Date(dueAt).toISOString()).local };
      const consent = await askConsent({
        project,
        environment,
        steps: [{ key: flagKey, before: state, after }],
        ...scheduledFor,
        note: note.trim(),
        list: <PlanSteps flag={flagKey} state={state} steps={timed} />,
      });
      if (consent === undefined) return;

      await start.mutateAsync({
        plan: {
          flag: flagKey,
          environment: environment.name,
          steps: stepsOf(steps),
          ...(consent.note === undefined || consent.note === '' ? {} : { note: consent.note }),
          anyway,
        },
        confirmed: environment.protected ? environment.name : undefined,
        // Otherwise the reason is the plan's.
        ...(consent.wish && consent),
      });
      toast({ kind: 'done', title: messages.started(flagKey, environment.name) });
      onClose();
    },
  });

  function choose(name: Choice): void {
    setChoice(name);
    if (name !== 'own') setSteps(draftOf(name, reachPct));
  }

  function change(next: readonly DraftStep[]): void {
    setSteps(next);
    setChoice('own');
  }

  return (
    <FormDialog
      title={messages.dialog(flagKey)}
      form={form}
      action={messages.submit}
      className="w-[min(36rem,calc(100vw-2rem))]"
      onClose={onClose}
    >
      <p className="text-ink-2">
        {messages.in} <EnvironmentBadge environment={environment} className="font-medium text-ink" />
        {reachPct > 0 && reachPct < 100 && messages.beginsAbove(reachPct)}
        {state?.enabled !== true && messages.turnsOn}
      </p>

      <ChoiceField
        legend={messages.plan}
        layout="grid"
        choices={[...PRESETS, 'own' as const].map((name) => [name, messages.presets[name]] as const)}
        selected={choice}
        onSelect={choose}
      />

      <fieldset>
        <legend className="mb-1 font-medium">{messages.steps}</legend>
        <ol className="space-y-2">
          {steps.map((step, index) => (
            <StepRow
              key={step.id}
              step={step}
              position={index + 1}
              isWrong={form.isTried && problem?.step === index}
              onChange={(next) => change(steps.map((each) => (each.id === next.id ? next : each)))}
              onRemove={steps.length > 1 ? () => change(steps.filter(({ id }) => id !== step.id)) : undefined}
            />
          ))}
        </ol>

        <Button kind="quiet" className="mt-1 -ml-2 px-2" onClick={() => change(withStep(steps))}>
          <Plus size={14} aria-hidden />
          {messages.addStep}
        </Button>
      </fieldset>

      <p aria-live="polite" className="rounded-md bg-hover px-3 py-2 break-words">
        {/* While it starts, the flag may have reached the first step already. */}
        {problem === undefined || form.isBusy ? (
          <>
            {messages.ends(stepsOf(steps).at(-1)?.rolloutPct ?? 0)}{' '}
            <strong className="font-semibold">
              {dueText(new Date(endOf(steps, now)).toISOString()).local}
            </strong>
            . <span className="text-ink-3">{messages.zone(localZone())}</span>
          </>
        ) : (
          <span className={form.isTried ? 'text-danger' : 'text-ink-2'}>{problem.message}</span>
        )}
      </p>

      <NoteField value={note} onChange={setNote} />
      <AnywayField error={form.error} isChecked={anyway} onChange={setAnyway} />
    </FormDialog>
  );
}

/** One step: its percentage, and when it runs. */
function StepRow({
  step,
  position,
  isWrong,
  onChange,
  onRemove,
}: {
  step: DraftStep;
  /** From 1. */
  position: number;
  isWrong: boolean;
  onChange: (step: DraftStep) => void;
  onRemove: (() => void) | undefined;
}) {
  const field = (name: 'share' | 'wait' | 'time') => ({
    value: step[name],
    onChange: (event: ChangeEvent<HTMLInputElement>) => onChange({ ...step, [name]: event.target.value }),
    autoComplete: 'off',
    ...(isWrong && { 'aria-invalid': true }),
  });
  const whens = Object.entries(messages.whens).filter(([when]) => position === 1 || when !== 'now');
  const isWait = step.when !== 'now' && step.when !== 'at';

  return (
    <li className="flex flex-wrap items-center gap-2">
      <span className="flex items-center gap-1.5">
        <input
          aria-label={messages.percentOf(position)}
          className={`${CONTROL} w-16 font-mono text-xs`}
          inputMode="decimal"
          {...field('share')}
        />
        <span className="text-ink-2">%</span>
      </span>

      {isWait && (
        <input
          aria-label={messages.lengthOf(position)}
          className={`${CONTROL} w-12 font-mono text-xs`}
          inputMode="numeric"
          {...field('wait')}
        />
      )}

      <Select
        label={messages.whenOf(position)}
        className="w-33"
        value={step.when}
        // The choices are the kinds.
        onSelect={(when) => onChange(withWhen(step, when as When))}
        choices={whens}
      />

      {step.when === 'at' && (
        <input
          type="datetime-local"
          aria-label={messages.timeOf(position)}
          className={`${INPUT} flex-1`}
          {...field('time')}
        />
      )}

      {onRemove && <IconButton icon={X} label={messages.removeStep(position)} onClick={onRemove} />}
    </li>
  );
}

function withWhen(step: DraftStep, when: When): DraftStep {
  const time = when === 'at' && step.time === '' ? firstTime(new Date()) : step.time;
  const wait = when !== 'at' && when !== 'now' && step.wait === '' ? '1' : step.wait;
  return { ...step, when, time, wait };
}
