import Plus from 'lucide-react/icons/plus';
import X from 'lucide-react/icons/x';
import { useId, useMemo, useState } from 'react';
import { wholeState } from '../../api/flag-states.ts';
import { useFlags } from '../../api/flags.ts';
import { useEnvironments } from '../../api/projects.ts';
import { useCreateSchedule } from '../../api/schedules.ts';
import type { EnvironmentRecord, FlagRecord } from '../../api/types.ts';
import { AnywayField } from '../../changes/anyway-field.tsx';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { NoteField } from '../../changes/note-field.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { Combobox, type Suggestion } from '../../components/combobox.tsx';
import { INPUT, TextField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { announce } from '../../components/live-region.tsx';
import { Select, SelectField } from '../../components/select.tsx';
import { dueText, localZone } from '../../flags/schedules/due-text.ts';
import { messages } from '../../flags/schedules/messages.ts';
import {
  afterStep,
  type Draft,
  type DraftStep,
  findProblems,
  firstTime,
  type StepKind,
  scheduleOf,
  scheduleText,
} from '../../flags/schedules/schedule-fields.ts';

const NO_FLAGS: readonly FlagRecord[] = [];

/** Asks for a new schedule: where, when, which flags and what they become, and why. */
export function CreateScheduleDialog({ project, onClose }: { project: string; onClose: () => void }) {
  const environments = useEnvironments(project);
  const { data: flags = NO_FLAGS } = useFlags(project);
  const byKey = useMemo(() => new Map(flags.map((flag) => [flag.key, flag])), [flags]);
  const suggestions = useMemo(() => flags.map(({ key }) => ({ value: key })), [flags]);
  const [draft, setDraft] = useState<Draft>(() => ({
    environment: environments[0]?.name ?? '',
    time: firstTime(new Date()),
    steps: [newStep(0)],
    note: '',
  }));
  const [anyway, setAnyway] = useState(false);
  const create = useCreateSchedule(project);
  const { askConsent } = useChangeGuards();
  const environment = environments.find(({ name }) => name === draft.environment) ?? environments[0];
  const problems = findProblems(draft, { keys: new Set(byKey.keys()), now: Date.now() });
  const form = useForm({
    problems: { time: problems.time, step: problems.steps.values().next().value },
    submit: async () => {
      if (environment === undefined) return;
      const consent = await askFor(environment);
      if (consent === undefined) return;
      const final = { ...draft, environment: environment.name };
      const schedule = scheduleOf(final);
      const confirmed = environment.protected ? environment.name : undefined;
      await create.mutateAsync({
        schedule,
        text: scheduleText(final),
        anyway,
        confirmed,
        ...consent,
      });
      announce(messages.scheduled(dueText(schedule.dueAt).local));
      onClose();
    },
  });

  async function askFor(place: EnvironmentRecord) {
    const steps = await Promise.all(
      draft.steps.map(async (step) => {
        const { key } = step;
        const listed = byKey.get(key)?.environments[place.name]?.state;
        const before = await wholeState({ project, environment: place.name, key }, listed);
        return { key, before, after: afterStep(before, scheduleOf({ ...draft, steps: [step] }).changes[0]) };
      }),
    );
    const scheduledFor = dueText(draft.time).local;
    return askConsent({ project, environment: place, steps, scheduledFor, note: draft.note });
  }

  function change(step: DraftStep): void {
    setDraft({ ...draft, steps: draft.steps.map((each) => (each.id === step.id ? step : each)) });
  }

  return (
    <FormDialog
      title={messages.create}
      form={form}
      action={messages.schedule}
      className="w-[min(42rem,calc(100vw-2rem))]"
      onClose={onClose}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={messages.environment}
          data-autofocus
          value={environment?.name ?? ''}
          onSelect={(name) => setDraft({ ...draft, environment: name })}
          choices={environments.map(({ name, protected: isProtected }) => [
            name,
            isProtected ? name + messages.protected : name,
          ])}
        />
        <TextField
          label={messages.when(localZone())}
          hint={problems.time === undefined ? messages.inUtc(dueText(draft.time).utc) : undefined}
          error={form.problem('time')}
          type="datetime-local"
          required
          value={draft.time}
          onChange={(time) => setDraft({ ...draft, time })}
        />
      </div>

      <fieldset>
        <legend className="mb-1 font-medium">{messages.steps}</legend>
        <ul className="space-y-2">
          {draft.steps.map((step, index) => (
            <StepRow
              key={step.id}
              step={step}
              position={index + 1}
              suggestions={suggestions}
              problem={form.isTried ? problems.steps.get(step.id) : undefined}
              onChange={change}
              onRemove={
                draft.steps.length === 1
                  ? undefined
                  : () => setDraft({ ...draft, steps: draft.steps.filter(({ id }) => id !== step.id) })
              }
            />
          ))}
        </ul>

        <Button
          kind="quiet"
          className="mt-1 -ml-2 px-2"
          onClick={() => setDraft({ ...draft, steps: [...draft.steps, newStep(nextId(draft.steps))] })}
        >
          <Plus size={14} aria-hidden />
          {messages.addFlag}
        </Button>
      </fieldset>

      <NoteField value={draft.note} onChange={(note) => setDraft({ ...draft, note })} />
      <AnywayField error={form.error} isChecked={anyway} onChange={setAnyway} />
    </FormDialog>
  );
}

function newStep(id: number): DraftStep {
  return { id, key: '', kind: 'on', text: '' };
}

function nextId(steps: readonly DraftStep[]): number {
  return Math.max(...steps.map(({ id }) => id)) + 1;
}

/** One flag of a new schedule and its change. */
function StepRow({
  step,
  position,
  suggestions,
  problem,
  onChange,
  onRemove,
}: {
  step: DraftStep;
  /** From 1, to tell rows apart. */
  position: number;
  /** The flags that can be selected. */
  suggestions: readonly Suggestion[];
  problem: string | undefined;
  onChange: (step: DraftStep) => void;
  /** Absent for the only one. */
  onRemove: (() => void) | undefined;
}) {
  const id = useId();
  const wrong = problem === undefined ? {} : { 'aria-invalid': true, 'aria-describedby': id };
  const isShare = step.kind === 'rollout' || step.kind === 'share';
  const needsText = isShare || step.kind === 'value';

  return (
    <li>
      <div className="flex flex-wrap items-center gap-2">
        <Combobox
          aria-label={messages.flag(position)}
          className={`${INPUT} font-mono text-xs max-sm:basis-full sm:w-auto sm:flex-1`}
          placeholder={messages.flagPlaceholder}
          listLabel={messages.flagList}
          suggestions={suggestions}
          spellCheck={false}
          value={step.key}
          onChange={(text) => onChange({ ...step, key: text.trim() })}
          onPick={(key) => onChange({ ...step, key })}
          {...wrong}
        />

        <Select
          label={messages.stepOf(position)}
          className="flex-1 sm:max-w-44"
          value={step.kind}
          // The choices are the kinds.
          onSelect={(kind) => onChange({ ...step, kind: kind as StepKind, text: '' })}
          choices={Object.entries(messages.stepKinds)}
        />

        {needsText && (
          <span className="flex w-40 items-center gap-1.5">
            <input
              aria-label={isShare ? messages.percentageOf(position) : messages.valueOf(position)}
              className={`${INPUT} font-mono text-xs`}
              inputMode={isShare ? 'decimal' : 'text'}
              placeholder={isShare ? '25' : messages.valuePlaceholder}
              autoComplete="off"
              spellCheck={false}
              value={step.text}
              onChange={(event) => onChange({ ...step, text: event.target.value })}
              {...wrong}
            />
            {isShare && <span className="text-ink-2">%</span>}
          </span>
        )}

        {onRemove && <IconButton icon={X} label={messages.removeFlag(position)} onClick={onRemove} />}
      </div>

      {problem !== undefined && (
        <p id={id} className="mt-1 text-xs text-danger">
          {problem}
        </p>
      )}
    </li>
  );
}
