import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { createKey } from '../../api/keys.ts';
import { queryKeys } from '../../api/query-keys.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { RefusalNote } from '../../changes/refusal-note.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { type Expiry, ExpiryField, expiryMember } from '../../components/expiry-field.tsx';
import { announce } from '../../components/live-region.tsx';
import { NameField } from '../../components/name-field.tsx';
import { EnvironmentChoice } from './environment-choice.tsx';
import { NewKeyDialog } from './new-key-dialog.tsx';

/** Asks for what a key is made of, makes it, and shows it once. */
export function CreateKeyDialog({ project, onClose }: { project: ProjectRecord; onClose: () => void }) {
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const [expiry, setExpiry] = useState<Expiry>({ kind: 'never' });
  const [isTried, setTried] = useState(false);
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  // In this component's state and nowhere else, so that it goes with the dialog.
  const [secret, setSecret] = useState<string>();

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    setTried(true);
    if (name.trim() === '' || chosen.length === 0 || expiry.kind === 'unusable') return;
    setPending(true);
    setError(undefined);
    try {
      const made = await createKey(project.name, { name, environments: chosen, ...expiryMember(expiry) });
      announce('The key is made');
      setSecret(made.key);
      await queries.invalidateQueries({ queryKey: queryKeys.keys(project.name) });
    } catch (refusal) {
      setError(refusal);
    } finally {
      setPending(false);
    }
  }

  if (secret !== undefined) {
    return <NewKeyDialog name={name.trim()} secret={secret} environments={chosen} onClose={onClose} />;
  }
  return (
    <Dialog title="New key" onClose={onClose}>
      <form className="flex flex-col gap-4" noValidate onSubmit={(event) => void submit(event)}>
        <NameField
          value={name}
          onChange={setName}
          hint="Who uses it, such as “website” or “worker”."
          error={isTried && name.trim() === '' ? 'Give it a name.' : undefined}
        />
        <EnvironmentChoice
          environments={project.environments}
          chosen={chosen}
          onChange={setChosen}
          error={isTried && chosen.length === 0 ? 'Choose at least one environment.' : undefined}
        />
        <ExpiryField hint="It works until it is revoked." isTried={isTried} onChange={setExpiry} />
        <RefusalNote error={error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={isPending}>
            Create the key
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
