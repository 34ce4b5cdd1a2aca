import { NAME_PATTERN } from '@halyard/protocol';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { messageOf } from '../../api/api-error.ts';
import { useCreateProject } from '../../api/projects.ts';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { links } from '../../shell/links.ts';

/** Asks for the name of a new project. */
export function CreateProjectDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [, navigate] = useLocation();
  const create = useCreateProject();
  const isAcceptable = NAME_PATTERN.test(name);
  const refusal = create.error ? messageOf(create.error) : undefined;
  const error =
    name !== '' && !isAcceptable
      ? 'Use lower-case letters, digits and "-", beginning with a letter or digit.'
      : refusal;
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (isAcceptable) create.mutate(name, { onSuccess: () => navigate(links.flags(name)) });
  }
  return (
    <Dialog title="New project" onClose={onClose}>
      <form onSubmit={submit}>
        <Field label="Name" hint="It stands in addresses and cannot be changed later." error={error}>
          {(props) => (
            <input
              {...props}
              data-autofocus
              autoComplete="off"
              spellCheck={false}
              maxLength={64}
              placeholder="shop"
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          )}
        </Field>
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={!isAcceptable || create.isPending}>
            Create the project
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
