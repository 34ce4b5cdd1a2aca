import { NAME_PATTERN } from '@halyard/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { createEnvironment, updateEnvironment } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { EnvironmentColor, EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
import { RefusalNote } from '../../changes/actions.tsx';
import { ENVIRONMENT_FILL } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { toast } from '../../components/toasts.tsx';

/** Asks for the name and the appearance of a new environment. */
export function CreateEnvironmentDialog({
  project: { name: project, environments },
  onClose,
}: {
  project: ProjectRecord;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [appearance, setAppearance] = useState({ color: freeColor(environments), protected: false });
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const isAcceptable = NAME_PATTERN.test(name);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (!isAcceptable) return;
    setPending(true);
    setError(undefined);
    try {
      await createEnvironment(project, { name, ...appearance });
      toast({ kind: 'done', title: `The environment ${name} is made` });
      onClose();
    } catch (refusal) {
      setError(refusal);
      setPending(false);
    } finally {
      void queries.invalidateQueries({ queryKey: queryKeys.project(project) });
    }
  }

  return (
    <Dialog title="New environment" onClose={onClose}>
      <form className="flex flex-col gap-4" noValidate onSubmit={(event) => void submit(event)}>
        <Field
          label="Name"
          hint="Applications ask for it by this name; it cannot be changed later."
          error={
            name === '' || isAcceptable
              ? undefined
              : 'Use lower-case letters, digits and "-", beginning with a letter or digit.'
          }
        >
          {(control) => (
            <input
              {...control}
              data-autofocus
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              maxLength={64}
              placeholder="preview"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <AppearanceFields value={appearance} onChange={(part) => setAppearance({ ...appearance, ...part })} />
        <p className="text-ink-2">It starts empty. Compare copies the states of another one into it.</p>
        <RefusalNote error={error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={!isAcceptable || isPending}>
            Create the environment
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** A colour that no other environment has, while there are some. */
function freeColor(environments: ProjectRecord['environments']): EnvironmentColor {
  const taken = new Set(environments.map(({ color }) => color));
  return ENVIRONMENT_COLORS.find((color) => color !== 'gray' && !taken.has(color)) ?? 'gray';
}

/**
 * Changes the colour and the protection of an environment. Taking the protection away says what that means. What is not
 * touched is left alone: others may be changing it.
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
  const queries = useQueryClient();
  const { name } = environment;
  const [chosen, setChosen] = useState<Partial<Appearance>>({});
  const appearance = { color: environment.color, protected: environment.protected, ...chosen };
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const opens = environment.protected && !appearance.protected;

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setPending(true);
    setError(undefined);
    try {
      await updateEnvironment(project, name, chosen);
      toast({ kind: 'done', title: `The environment ${name} is changed` });
      onClose();
    } catch (refusal) {
      setError(refusal);
      setPending(false);
    } finally {
      void queries.invalidateQueries({ queryKey: queryKeys.project(project) });
    }
  }

  return (
    <Dialog title={`Edit ${name}`} onClose={onClose}>
      <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        <AppearanceFields value={appearance} onChange={(part) => setChosen({ ...chosen, ...part })} />
        {opens && (
          <p role="alert" className="rounded-md bg-warn-soft px-3 py-2 text-warn">
            Without protection every editor changes flags in {name} with one click, unasked.
          </p>
        )}
        <RefusalNote error={error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind={opens ? 'danger' : 'primary'} disabled={isPending}>
            {opens ? `Take the protection off ${name}` : 'Save'}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** The colours in the order in which they are offered. */
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

/** What is chosen. */
interface Appearance {
  readonly color: EnvironmentColor;
  readonly protected: boolean;
}

/** Asks for a colour, and whether changes are to be confirmed. */
function AppearanceFields({
  value,
  onChange,
}: {
  value: Appearance;
  /** Given the member that was chosen. */
  onChange: (part: Partial<Appearance>) => void;
}) {
  const name = useId();
  return (
    <>
      <fieldset className="min-w-0">
        <legend className="mb-1 font-medium">Colour</legend>
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
          Protected
          <span className="block text-xs text-ink-3">
            Only people with the permission change flags in it, and each change is confirmed.
          </span>
        </span>
      </label>
    </>
  );
}
