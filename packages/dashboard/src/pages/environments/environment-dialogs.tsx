import { NAME_PATTERN } from '@halyard/protocol';
import { type ReactNode, useState } from 'react';
import { useOperators } from '../../api/operators.ts';
import { createEnvironment, updateEnvironment } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useRollouts } from '../../api/rollouts.ts';
import { useSchedules } from '../../api/schedules.ts';
import type { EnvironmentColor, EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { FieldDiff } from '../../components/audit/field-diff.tsx';
import { ENVIRONMENT_FILL } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { CheckField, ChoiceField, PlaceNameField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { toast } from '../../components/toasts.tsx';
import { messages } from './messages.tsx';

/** Asks for the name and the appearance of a new environment. */
export function CreateEnvironmentDialog({
  project: { name: project, environments },
  onClose,
}: {
  project: ProjectRecord;
  onClose: () => void;
}) {
  const [name, setName] = useState('');
  const [appearance, setAppearance] = useState({ color: freeColor(environments), protected: false });
  const invalid = NAME_PATTERN.test(name) ? undefined : messages.nameInvalid;
  const form = useForm({
    problems: { name: name === '' ? messages.nameMissing : invalid },
    submit: async () => {
      await createEnvironment(project, { name, ...appearance });
      toast({ kind: 'done', title: messages.created(name) });
      onClose();
    },
    stale: [queryKeys.project(project)],
  });

  return (
    <FormDialog title={messages.create} form={form} action={messages.createAction} onClose={onClose}>
      <PlaceNameField
        texts={messages}
        error={name === '' ? form.problem('name') : invalid}
        value={name}
        onChange={setName}
      />
      <AppearanceFields value={appearance} onChange={(part) => setAppearance({ ...appearance, ...part })} />
      <p className="text-ink-2">{messages.startsEmpty}</p>
    </FormDialog>
  );
}

/**
 * Changes the color, the protection and the approvals of an environment, and explains what that means. Only what the person
 * touched is sent, because others may be changing the rest.
 */
export function EditEnvironmentDialog({
  project,
  environment,
  onClose,
}: {
  project: string;
  environment: EnvironmentRecord;
  onClose: () => void;
}) {
  const { name } = environment;
  const { askApproval } = useChangeGuards();
  const [changed, setChanged] = useState<Partial<Appearance & Guards>>({});
  const next = { ...environment, ...changed };
  const unprotects = environment.protected && !next.protected;
  const needsApproval = environment.approvals > 0 && loosens(environment, next);
  const tooFew = useTooFewApprovers(project, next);
  const form = useForm({
    submit: async () => {
      const wanted = needsApproval
        ? await askApproval({
            project,
            environments: [environment],
            what: messages.loosenWhat(name),
            list: <FieldDiff before={guardsOf(environment)} after={guardsOf(next)} />,
          })
        : { note: undefined };
      if (wanted === undefined) return;
      await updateEnvironment(project, name, changed, wanted);
      toast({ kind: 'done', title: messages.saved(name) });
      onClose();
    },
    stale: [queryKeys.project(project)],
  });

  return (
    <FormDialog
      title={messages.editEnvironment(name)}
      form={form}
      action={needsApproval ? messages.loosen : unprotects ? messages.unprotect(name) : messages.save}
      kind={unprotects && !needsApproval ? 'danger' : 'primary'}
      obstacle={next.approvals > environment.approvals ? tooFew : undefined}
      onClose={onClose}
    >
      <AppearanceFields value={next} onChange={(part) => setChanged({ ...changed, ...part })} />
      {next.protected && (
        <ApprovalFields value={next} onChange={(part) => setChanged({ ...changed, ...part })} />
      )}
      <CheckField
        label={messages.reasonRequired}
        hint={messages.reasonRequiredHint}
        isChecked={next.reasonRequired}
        onChange={(reasonRequired) => setChanged({ ...changed, reasonRequired })}
      />
      {next.protected && environment.approvals === 0 && next.approvals > 0 && (
        <Unapproved project={project} environment={name} />
      )}
      {unprotects && <Warning>{messages.unprotectWarning(name)}</Warning>}
      {needsApproval && <Warning>{messages.loosenWarning}</Warning>}
    </FormDialog>
  );
}

/** What guards an environment, besides its protection. */
type Guards = Pick<EnvironmentRecord, 'approvals' | 'emergencyOff' | 'reasonRequired'>;

/** Whether a change takes something from what guards an environment. The server decides; this says it before. */
function loosens(before: EnvironmentRecord, after: EnvironmentRecord): boolean {
  if (!after.protected || after.approvals < before.approvals) return true;
  if (before.reasonRequired && !after.reasonRequired) return true;
  return after.approvals > 0 && after.emergencyOff && !before.emergencyOff;
}

function guardsOf(environment: EnvironmentRecord): Guards & Pick<EnvironmentRecord, 'protected'> {
  const { approvals, emergencyOff, reasonRequired } = environment;
  return {
    protected: environment.protected,
    approvals: environment.protected ? approvals : 0,
    emergencyOff,
    reasonRequired,
  };
}

/** Why the environment cannot require so many approvals: too few people could give them. */
function useTooFewApprovers(project: string, { approvals }: Guards): string | undefined {
  const { data } = useOperators();
  const able = data?.filter(({ role, canChangeProtected, projects = [] }) => {
    const here = projects.filter((each) => each.project === project);
    return [{ role, canChangeProtected }, ...here].some(
      (each) => each.role === 'admin' || (each.role === 'editor' && each.canChangeProtected),
    );
  }).length;
  if (able === undefined || able > approvals) return undefined;
  return messages.tooFew(approvals + 1, able);
}

/** Asks how many people must approve a change, and whether turning off can be an emergency. */
function ApprovalFields({ value, onChange }: { value: Guards; onChange: (part: Partial<Guards>) => void }) {
  return (
    <>
      <ChoiceField
        legend={messages.approvals}
        hint={messages.approvalsHint}
        layout="boxes"
        choices={messages.approvalChoices.map((label, count) => [String(count), label] as const)}
        selected={String(value.approvals)}
        onSelect={(count) => onChange({ approvals: Number(count) })}
      />
      {value.approvals > 0 && (
        <CheckField
          label={messages.emergencyOff}
          hint={messages.emergencyOffHint}
          isChecked={value.emergencyOff}
          onChange={(emergencyOff) => onChange({ emergencyOff })}
        />
      )}
    </>
  );
}

/** What becomes of the schedules and plans of an environment that begins to require approval: they have none. */
function Unapproved({ project, environment }: { project: string; environment: string }) {
  const { data: schedules = [] } = useSchedules(project);
  const { data: plans = [] } = useRollouts(project, { status: 'open' });
  const pending = schedules.filter(
    (each) => each.environment === environment && each.status === 'pending',
  ).length;
  const running = plans.filter(
    (each) => each.environment === environment && each.status === 'running',
  ).length;
  if (pending + running === 0) return null;
  return <Warning>{messages.unapproved(pending, running)}</Warning>;
}

function Warning({ children }: { children: ReactNode }) {
  return (
    <p role="alert" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
      {children}
    </p>
  );
}

/** The colors, in the order in which they are offered. */
const ENVIRONMENT_COLORS: readonly EnvironmentColor[] = [
  'green',
  'teal',
  'blue',
  'violet',
  'pink',
  'red',
  'amber',
  'gray',
];

/** A color that no other environment has, if there is one. */
function freeColor(environments: ProjectRecord['environments']): EnvironmentColor {
  const taken = new Set(environments.map(({ color }) => color));
  return ENVIRONMENT_COLORS.find((color) => color !== 'gray' && !taken.has(color)) ?? 'gray';
}

interface Appearance {
  readonly color: EnvironmentColor;
  readonly protected: boolean;
}

/** Asks for a color, and whether changes must be confirmed. */
function AppearanceFields({
  value,
  onChange,
}: {
  value: Appearance;
  /** Called with the member that changed. */
  onChange: (part: Partial<Appearance>) => void;
}) {
  return (
    <>
      <ChoiceField
        legend={messages.color}
        layout="grid"
        choices={COLOR_CHOICES}
        selected={value.color}
        onSelect={(color) => onChange({ color })}
      />
      <CheckField
        label={messages.protect}
        hint={messages.protectHint}
        isChecked={value.protected}
        onChange={(isChecked) => onChange({ protected: isChecked })}
      />
    </>
  );
}

const COLOR_CHOICES = ENVIRONMENT_COLORS.map(
  (color) => [color, <ColorLabel key={color} color={color} />] as const,
);

function ColorLabel({ color }: { color: EnvironmentColor }) {
  return (
    <>
      <span aria-hidden className={classNames('size-2.5 shrink-0 rounded-full', ENVIRONMENT_FILL[color])} />
      {color}
    </>
  );
}
