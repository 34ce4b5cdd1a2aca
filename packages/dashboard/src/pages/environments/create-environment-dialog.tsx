import { NAME_PATTERN } from '@halyard/protocol';
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { createEnvironment } from '../../api/environments.ts';
import { queryKeys } from '../../api/query-keys.ts';
import type { EnvironmentColor, ProjectRecord } from '../../api/types.ts';
import { RefusalNote } from '../../changes/refusal-note.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { toast } from '../../components/toasts.tsx';
import { ENVIRONMENT_COLORS, EnvironmentLooksFields } from './environment-looks-fields.tsx';

/** Asks for the name and the looks of a new environment. */
export function CreateEnvironmentDialog({
  project: { name: project, environments },
  onClose,
}: {
  project: ProjectRecord;
  onClose: () => void;
}) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [looks, setLooks] = useState({ color: freeColor(environments), protected: false });
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const isAcceptable = NAME_PATTERN.test(name);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (!isAcceptable) return;
    setPending(true);
    setError(undefined);
    try {
      await createEnvironment(project, { name, ...looks });
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
        <EnvironmentLooksFields value={looks} onChange={(part) => setLooks({ ...looks, ...part })} />
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
