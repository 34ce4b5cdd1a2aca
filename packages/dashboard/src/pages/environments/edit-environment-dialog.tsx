import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { updateEnvironment } from '../../api/environments.ts';
import { queryKeys } from '../../api/query-keys.ts';
import type { EnvironmentRecord } from '../../api/types.ts';
import { RefusalNote } from '../../changes/refusal-note.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { toast } from '../../components/toasts.tsx';
import { type ChosenLooks, EnvironmentLooksFields } from './environment-looks-fields.tsx';

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
  const [chosen, setChosen] = useState<Partial<ChosenLooks>>({});
  const looks = { color: environment.color, protected: environment.protected, ...chosen };
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<unknown>();
  const opens = environment.protected && !looks.protected;

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
        <EnvironmentLooksFields value={looks} onChange={(part) => setChosen({ ...chosen, ...part })} />
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
