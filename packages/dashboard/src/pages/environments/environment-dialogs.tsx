import { NAME_PATTERN } from '@halyard/protocol';
import { useState } from 'react';
import { createEnvironment, updateEnvironment } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentColor, EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
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
 * Changes the color and the protection of an environment, and explains what removing the protection means. Only what the
 * person touched is sent, because others may be changing the rest.
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
  const [changed, setChanged] = useState<Partial<Appearance>>({});
  const appearance = { color: environment.color, protected: environment.protected, ...changed };
  const unprotects = environment.protected && !appearance.protected;
  const form = useForm({
    submit: async () => {
      await updateEnvironment(project, name, changed);
      toast({ kind: 'done', title: messages.saved(name) });
      onClose();
    },
    stale: [queryKeys.project(project)],
  });

  return (
    <FormDialog
      title={messages.editEnvironment(name)}
      form={form}
      action={unprotects ? messages.unprotect(name) : messages.save}
      kind={unprotects ? 'danger' : 'primary'}
      onClose={onClose}
    >
      <AppearanceFields value={appearance} onChange={(part) => setChanged({ ...changed, ...part })} />
      {unprotects && (
        <p role="alert" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
          {messages.unprotectWarning(name)}
        </p>
      )}
    </FormDialog>
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
