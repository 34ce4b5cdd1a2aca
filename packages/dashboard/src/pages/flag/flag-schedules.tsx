import { useId, useState } from 'react';
import { Link } from 'wouter';
import { useCreateSchedule, useSchedules } from '../../api/schedules.ts';
import type { EnvironmentRecord, FlagRecord, ProjectRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { AnywayField } from '../../changes/anyway-field.tsx';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { NoteField } from '../../changes/note-field.tsx';
import { FieldDiff } from '../../components/audit/field-diff.tsx';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { TextField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { ErrorText } from '../../components/screen-states.tsx';
import { SelectField } from '../../components/select.tsx';
import { differingFields } from '../../components/state-summary.tsx';
import { toast } from '../../components/toasts.tsx';
import { RunningPlan, useRunningPlans } from '../../flags/rollouts/running-plans.tsx';
import { dueText, localZone } from '../../flags/schedules/due-text.ts';
import { firstTime } from '../../flags/schedules/schedule-fields.ts';
import { ScheduleItem, stepText } from '../../flags/schedules/schedule-item.tsx';
import { messages } from './messages.tsx';
import { RolloutField } from './rollout-field.tsx';
import { draftOf, planOf, problemsOf, type StateDraft, type SwitchPlan } from './state-draft.ts';

const words = messages.schedules;

/** The pending scheduled changes of a flag, and the next steps of its rollout plans. */
export function PendingSchedules({ project, flagKey }: { project: ProjectRecord; flagKey: string }) {
  const id = useId();
  const { data, error } = useSchedules(project.name);
  const pending = (data ?? []).filter(
    ({ status, changes }) => status === 'pending' && changes.some(({ key }) => key === flagKey),
  );
  const plans = useRunningPlans(project.name, flagKey);

  return (
    <section aria-labelledby={id} className="rounded-lg border border-line bg-surface">
      <div className="flex items-baseline justify-between gap-2 px-4 pt-4 pb-2">
        <h2 id={id} className="text-base font-semibold">
          {words.title}
        </h2>
        <Link href={links.schedules(project.name)} className="text-xs text-accent hover:underline">
          {words.all}
        </Link>
      </div>
      {error !== null && (
        <div role="alert" className="px-4 pb-4 text-danger">
          <ErrorText error={error} />
        </div>
      )}
      {pending.length + plans.length === 0 ? (
        <p className="px-4 pb-4 text-xs text-ink-3">{words.none}</p>
      ) : (
        <ul className="px-1 pb-1">
          {plans.map((plan) => (
            <RunningPlan key={plan.id} plan={plan} />
          ))}
          {pending.map((schedule) => (
            <ScheduleItem key={schedule.id} project={project.name} schedule={schedule} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** The initial values of the dialog. */
export interface ScheduleStart {
  readonly environment: EnvironmentRecord;
  /** The open draft; without it, the state in effect. */
  readonly draft: StateDraft | undefined;
  /** The JSON text of the value in effect. */
  readonly valueText: string | undefined;
}

/** Schedules a change of a state. */
export function ScheduleDialog({
  project,
  flag,
  start: { environment, draft: begun, valueText },
  onClose,
}: {
  project: string;
  flag: FlagRecord;
  start: ScheduleStart;
  onClose: () => void;
}) {
  const { key } = flag;
  // The version when the dialog was opened: changes by others since then must not be undone.
  const [version] = useState(() => ({ record: flag.environments[environment.name], valueText }));
  const isOn = version.record?.state.enabled ?? false;
  const [time, setTime] = useState(() => firstTime(new Date()));
  const [draft, setDraft] = useState(() => begun ?? draftOf(version));
  const [plan, setPlan] = useState<SwitchPlan>(begun === undefined ? (isOn ? 'off' : 'on') : 'keep');
  const [note, setNote] = useState('');
  const [anyway, setAnyway] = useState(false);
  const create = useCreateSchedule(project);
  const { askConsent } = useChangeGuards();
  const problems = problemsOf(draft);
  const isSound = problems.value === undefined && problems.rollout === undefined;
  const planned = isSound ? planOf(version, draft, plan) : undefined;
  const isFuture = Date.parse(time) > Date.now();
  const timeProblem = isFuture ? undefined : time === '' ? words.noTime : words.past;

  const form = useForm({
    problems: { time: timeProblem },
    submit: async () => {
      if (planned === undefined) return;
      const steps = [{ key, before: version.record?.state, after: planned.after }];
      const dueAt = new Date(time).toISOString();
      const consent = await askConsent({
        project,
        environment,
        steps,
        scheduledFor: dueText(dueAt).local,
        note: note.trim(),
      });
      if (consent === undefined) return;
      const schedule = {
        environment: environment.name,
        dueAt,
        changes: [{ key, patch: planned.patch }],
        ...(note.trim() === '' ? {} : { note: note.trim() }),
      };
      const changes = `[{"key":${JSON.stringify(key)},"patch":${planned.patchText}}]`;
      const text = `{"changes":${changes},${JSON.stringify({ ...schedule, changes: undefined }).slice(1)}`;
      const confirmed = environment.protected ? environment.name : undefined;
      await create.mutateAsync({ schedule, text, anyway, confirmed, ...consent });
      toast({ kind: 'done', title: words.done(key), detail: dueText(dueAt).local });
      onClose();
    },
  });

  return (
    <FormDialog
      title={words.dialog(key)}
      form={form}
      action={words.submit}
      obstacle={problems.rollout ?? (planned === undefined ? words.nothing : undefined)}
      onClose={onClose}
    >
      <p className="flex items-center gap-1.5 text-ink-2">
        {words.in} <EnvironmentBadge environment={environment} className="font-medium text-ink" />
      </p>
      <TextField
        label={words.when(localZone())}
        hint={time === '' ? undefined : words.utc(dueText(time).utc)}
        error={timeProblem}
        type="datetime-local"
        required
        data-autofocus
        value={time}
        onChange={setTime}
      />
      <SelectField
        label={words.switch}
        value={plan}
        // The choices have these three values.
        onSelect={(choice) => setPlan(choice as SwitchPlan)}
        choices={[
          ['on', words.on(isOn)],
          ['off', words.off(isOn)],
          ['keep', words.keep],
        ]}
      />
      <RolloutField
        environment={words.rolloutIn(environment.name)}
        draft={draft}
        problem={problems.rollout}
        isReadOnly={false}
        onEdit={(change) => setDraft({ ...draft, ...change })}
        onSubmit={() => undefined}
      />
      <NoteField value={note} onChange={setNote} />
      <AnywayField error={form.error} isChecked={anyway} onChange={setAnyway} />
      {planned !== undefined && (
        <div aria-live="polite" className="rounded-md bg-hover px-3 py-2">
          <p className="mb-1 break-words">{words.preview(key, stepText({ key, patch: planned.patch }))}</p>
          {differingFields(version.record?.state, planned.after).length > 0 && (
            <FieldDiff before={version.record?.state} after={planned.after} />
          )}
        </div>
      )}
    </FormDialog>
  );
}
