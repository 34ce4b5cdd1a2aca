import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import { type FormEvent, useState } from 'react';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { RefusalNote } from '../../changes/actions.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { Field, INPUT } from '../../components/field.tsx';
import { FirstStates } from './first-states.tsx';
import { useCreateGuarded } from './use-create-guarded.ts';

/** Asks for what a new flag needs: its key, what it is for, and where it is on at first. */
export function CreateFlagDialog({
  project,
  flags,
  initialKey,
  onClose,
  onCreated,
}: {
  project: ProjectRecord;
  /** Those that are there: a key that is taken is told while it is typed. */
  flags: readonly FlagRecord[];
  initialKey: string;
  onClose: () => void;
  onCreated: (key: string) => void;
}) {
  const [key, setKey] = useState(initialKey);
  const [description, setDescription] = useState('');
  const [tags, setTags] = useState('');
  const [owner, setOwner] = useState('');
  const [enabledIn, setEnabledIn] = useState<ReadonlySet<string>>(new Set());
  const [refusal, setRefusal] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const create = useCreateGuarded(project);
  const fault = key === '' ? undefined : faultOf(key, flags);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (key === '' || fault !== undefined || isBusy) return;
    setBusy(true);
    setRefusal(undefined);
    try {
      const texts = { description: description.trim(), tags: tagsOf(tags), owner: owner.trim() };
      if ((await create({ key, enabledIn, ...texts })) !== undefined) {
        onClose();
        onCreated(key);
      }
    } catch (error) {
      setRefusal(error);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Dialog title="New flag" onClose={onClose}>
      <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        <Field label="Key" hint="What your code asks for. It cannot be changed later." error={fault}>
          {(control) => (
            <input
              {...control}
              className={`${INPUT} font-mono text-xs`}
              data-autofocus
              autoComplete="off"
              spellCheck={false}
              maxLength={128}
              placeholder="new-checkout"
              value={key}
              onChange={(event) => setKey(event.target.value)}
            />
          )}
        </Field>
        <Field label="Description" hint="What it is for, and when it can go again.">
          {(control) => (
            <textarea
              {...control}
              className={`${INPUT} h-16 py-1.5`}
              maxLength={2000}
              value={description}
              onChange={(event) => setDescription(event.target.value)}
            />
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Tags" hint="Separated by commas.">
            {(control) => (
              <input {...control} value={tags} onChange={(event) => setTags(event.target.value)} />
            )}
          </Field>
          <Field label="Owner" hint="Who looks after it.">
            {(control) => (
              <input
                {...control}
                maxLength={100}
                value={owner}
                onChange={(event) => setOwner(event.target.value)}
              />
            )}
          </Field>
        </div>
        <FirstStates environments={project.environments} enabledIn={enabledIn} onChange={setEnabledIn} />
        <RefusalNote error={refusal} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={key === '' || fault !== undefined || isBusy}>
            Create the flag
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** What is wrong with a key; `undefined` when nothing is. */
function faultOf(key: string, flags: readonly FlagRecord[]): string | undefined {
  if (!FLAG_KEY_PATTERN.test(key))
    return 'Use letters, digits, ".", "_" and "-", beginning with a letter or digit.';
  return flags.some((flag) => flag.key === key) ? 'There is a flag with this key already.' : undefined;
}

/** The tags of a comma-separated text, each once. */
function tagsOf(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ''))];
}
