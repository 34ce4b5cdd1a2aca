import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import { type FormEvent, useCallback, useState } from 'react';
import { type NewFlag, useCreateFlag } from '../../api/flags.ts';
import type { EnvironmentRecord, FlagRecord, FlagState, ProjectRecord } from '../../api/types.ts';
import { useChangeGuards, useReadOnlyReason } from '../../changes/change-guards.tsx';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { Field, INPUT } from '../../components/field.tsx';
import { RefusalNote } from '../../components/form.tsx';
import { Switch } from '../../components/switch.tsx';

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

/** Where a new flag is on at first. Where the person may not change anything, it is not put at all. */
function FirstStates({
  environments,
  enabledIn,
  onChange,
}: {
  environments: readonly EnvironmentRecord[];
  enabledIn: ReadonlySet<string>;
  onChange: (enabledIn: ReadonlySet<string>) => void;
}) {
  const readOnlyReason = useReadOnlyReason();
  function set(name: string, isEnabled: boolean): void {
    const next = new Set(enabledIn);
    if (isEnabled) next.add(name);
    else next.delete(name);
    onChange(next);
  }
  return (
    <fieldset>
      <legend className="mb-1 font-medium">On at first in</legend>
      <ul className="divide-y divide-line rounded-md border border-line">
        {environments.map((environment) => {
          const { name } = environment;
          const refusal = readOnlyReason(environment);
          return (
            <li key={name} className="flex h-10 items-center gap-2 px-3" title={refusal}>
              <EnvironmentBadge environment={environment} className="flex-1" />
              <span className="text-xs text-ink-3">
                {refusal !== undefined ? 'Not yours to change' : enabledIn.has(name) ? 'On' : 'Off'}
              </span>
              <Switch
                label={`On at first in ${name}`}
                checked={enabledIn.has(name)}
                disabled={refusal !== undefined}
                onChange={(event) => set(name, event.target.checked)}
              />
            </li>
          );
        })}
      </ul>
    </fieldset>
  );
}

/** What a person gives for a new flag. */
interface FlagDraft extends Omit<NewFlag, 'states'> {
  readonly enabledIn: ReadonlySet<string>;
}

/**
 * Makes a flag, off or on in every environment that the person may change; asks first where it is to be on in a
 * protected one. Resolves with the flag, or `undefined` when the person stepped back; rejects with the refusal.
 */
function useCreateGuarded(project: ProjectRecord): (draft: FlagDraft) => Promise<FlagRecord | undefined> {
  const { askConsent } = useChangeGuards();
  const readOnlyReason = useReadOnlyReason();
  const { mutateAsync } = useCreateFlag(project.name);
  return useCallback(
    async ({ enabledIn, ...flag }) => {
      const states: Record<string, FlagState> = {};
      const confirmed: string[] = [];
      for (const environment of project.environments.filter((each) => readOnlyReason(each) === undefined)) {
        const { name } = environment;
        const after = { enabled: enabledIn.has(name) };
        const steps = [{ key: flag.key, before: undefined, after }];
        if (after.enabled && !(await askConsent({ project: project.name, environment, steps })))
          return undefined;
        states[name] = after;
        if (environment.protected) confirmed.push(name);
      }
      return mutateAsync({ flag: { ...flag, states }, confirmed });
    },
    [project, askConsent, readOnlyReason, mutateAsync],
  );
}
