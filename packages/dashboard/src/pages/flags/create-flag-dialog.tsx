import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import { type FormEvent, useState } from 'react';
import { messageOf } from '../../api/api-error.ts';
import { useCreateFlag } from '../../api/flags.ts';
import type { FlagState, ProjectRecord } from '../../api/types.ts';
import { useChangeGuards } from '../../changes/change-guards.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { Field, FormError, INPUT } from '../../components/field.tsx';
import { Switch } from '../../components/switch.tsx';
import { toast } from '../../components/toasts.tsx';

/** Asks for what a new flag needs: its key, what it is for, and where it is on at first. */
export function CreateFlagDialog({
  project,
  initialKey = '',
  onClose,
}: {
  project: ProjectRecord;
  initialKey?: string;
  onClose: () => void;
}) {
  const [key, setKey] = useState(initialKey);
  const [description, setDescription] = useState('');
  const [tags, setTags] = useState('');
  const [owner, setOwner] = useState('');
  const [enabledIn, setEnabledIn] = useState<ReadonlySet<string>>(new Set());
  const create = useCreateFlag(project.name);
  const { askConsent } = useChangeGuards();
  const isAcceptable = FLAG_KEY_PATTERN.test(key);

  async function submit(event: FormEvent): Promise<void> {
    event.preventDefault();
    if (!isAcceptable) return;
    const states: Record<string, FlagState> = {};
    for (const { name } of project.environments) states[name] = { enabled: enabledIn.has(name) };
    const confirmed = project.environments.filter((environment) => environment.protected);
    for (const environment of confirmed.filter(({ name }) => enabledIn.has(name))) {
      const steps = [{ key, before: undefined, after: { enabled: true } }];
      if (!(await askConsent({ project: project.name, environment, steps }))) return;
    }
    create.mutate(
      {
        flag: {
          key,
          states,
          ...(description.trim() === '' ? {} : { description: description.trim() }),
          ...(owner.trim() === '' ? {} : { owner: owner.trim() }),
          ...(tags.trim() === '' ? {} : { tags: tagsOf(tags) }),
        },
        confirmed: confirmed.map(({ name }) => name),
      },
      {
        onSuccess: () => {
          toast({ kind: 'done', title: `${key} was created` });
          onClose();
        },
      },
    );
  }

  return (
    <Dialog title="New flag" onClose={onClose}>
      <form className="flex flex-col gap-4" onSubmit={(event) => void submit(event)}>
        <Field
          label="Key"
          hint="What code asks for. It cannot be changed later."
          error={
            key !== '' && !isAcceptable
              ? 'Use letters, digits, ".", "_" and "-", beginning with a letter or digit.'
              : undefined
          }
        >
          {(props) => (
            <input
              {...props}
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
        <Field label="Description">
          {(props) => (
            <textarea
              {...props}
              className={`${INPUT} h-16 py-1.5`}
              maxLength={2000}
              value={description}
              onChange={(event) => setDescription(event.target.value)}
            />
          )}
        </Field>
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Tags" hint="Separated by commas.">
            {(props) => <input {...props} value={tags} onChange={(event) => setTags(event.target.value)} />}
          </Field>
          <Field label="Owner" hint="Who looks after it.">
            {(props) => (
              <input
                {...props}
                maxLength={100}
                value={owner}
                onChange={(event) => setOwner(event.target.value)}
              />
            )}
          </Field>
        </div>
        <fieldset>
          <legend className="mb-1 font-medium">On at first in</legend>
          <ul className="divide-y divide-line rounded-md border border-line">
            {project.environments.map((environment) => {
              const { name } = environment;
              return (
                <li key={name} className="flex h-10 items-center justify-between px-3">
                  <EnvironmentBadge environment={environment} />
                  <Switch
                    label={`On at first in ${name}`}
                    checked={enabledIn.has(name)}
                    onChange={(event) => {
                      const next = new Set(enabledIn);
                      if (event.target.checked) next.add(name);
                      else next.delete(name);
                      setEnabledIn(next);
                    }}
                  />
                </li>
              );
            })}
          </ul>
        </fieldset>
        {create.error && <FormError>{messageOf(create.error)}</FormError>}
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" kind="primary" disabled={!isAcceptable || create.isPending}>
            Create the flag
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}

/** The tags of a comma-separated text, each once. */
function tagsOf(text: string): string[] {
  const tags = text.split(',').map((tag) => tag.trim());
  return [...new Set(tags.filter((tag) => tag !== ''))];
}
