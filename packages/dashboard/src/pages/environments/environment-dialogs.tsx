import { NAME_PATTERN } from '@halyard/protocol';
import { useId, useState } from 'react';
import { createEnvironment, updateEnvironment } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentColor, EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
import { ENVIRONMENT_FILL } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { Field } from '../../components/field.tsx';
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
      <Field
        label={messages.name}
        hint={messages.nameHint}
        error={name === '' ? form.problem('name') : invalid}
      >
        {(control) => (
          <input
            {...control}
            data-autofocus
            autoComplete="off"
            autoCapitalize="off"
            spellCheck={false}
            maxLength={64}
            placeholder={messages.namePlaceholder}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        )}
      </Field>
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
  const name = useId();
  return (
    <>
      <fieldset className="min-w-0">
        <legend className="mb-1 font-medium">{messages.color}</legend>
        <div className="grid grid-cols-2 gap-1.5 sm:grid-cols-4">
          {ENVIRONMENT_COLORS.map((color) => (
            <label
              key={color}
              className="flex min-h-8 items-center gap-2 rounded-md border border-line px-2.5 has-checked:border-accent has-checked:bg-accent-soft"
            >
              <input
                type="radio"
                name={name}
                className="size-4 shrink-0 accent-accent"
                checked={value.color === color}
                onChange={() => onChange({ color })}
              />
              <span
                aria-hidden
                className={classNames('size-2.5 shrink-0 rounded-full', ENVIRONMENT_FILL[color])}
              />
              {color}
            </label>
          ))}
        </div>
      </fieldset>
      <label className="flex min-h-6 items-start gap-2.5">
        <input
          type="checkbox"
          className="mt-0.5 size-4 shrink-0 accent-accent"
          checked={value.protected}
          onChange={(event) => onChange({ protected: event.target.checked })}
        />
        <span>
          {messages.protect}
          <span className="block text-xs text-ink-3">{messages.protectHint}</span>
        </span>
      </label>
    </>
  );
}
