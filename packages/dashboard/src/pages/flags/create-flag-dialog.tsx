import { FLAG_KEY_PATTERN } from '@halyard/protocol';
import { useCallback, useState } from 'react';
import type { Wanted } from '../../api/approvals.ts';
import { type NewFlag, useCreateFlag } from '../../api/flags.ts';
import type {
  EnvironmentRecord,
  FlagRecord,
  FlagState,
  FlagValueKind,
  ProjectRecord,
} from '../../api/types.ts';
import { useChangeGuards, useReadOnlyReason } from '../../changes/change-guards.tsx';
import { VALUE_KIND_HINT, VALUE_KINDS } from '../../components/audit/messages.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { ChoiceField, Field, INPUT, SlugOffer, TextField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { PeopleField } from '../../components/people-picker.tsx';
import { Switch } from '../../components/switch.tsx';
import { TagField } from '../../components/tag-input.tsx';
import { useChoices } from '../../flags/flag-tags.ts';
import { messages as dialogs } from './dialog-messages.ts';
import { messages } from './messages.ts';

const words = dialogs.create;

/** Asks for a new flag's key, description, tags, owner and initial state in each environment. */
export function CreateFlagDialog({
  project,
  flags,
  initialKey,
  onClose,
  onCreated,
}: {
  project: ProjectRecord;
  /** The existing flags: a key that is taken is reported while it is typed. */
  flags: readonly FlagRecord[];
  initialKey: string;
  onClose: () => void;
  onCreated: (flag: FlagRecord) => void;
}) {
  const [key, setKey] = useState(initialKey);
  const [description, setDescription] = useState('');
  const [tags, setTags] = useState<readonly string[]>([]);
  const [owner, setOwner] = useState('');
  const [valueKind, setValueKind] = useState<FlagValueKind>('none');
  const [enabledIn, setEnabledIn] = useState<ReadonlySet<string>>(new Set());
  const create = useCreateGuarded(project);
  const fault = key === '' ? undefined : faultOf(key, flags);
  const known = useChoices(flags);
  const form = useForm({
    problems: { key: key === '' ? words.keyMissing : fault },
    submit: async () => {
      const texts = { description: description.trim(), tags, owner: owner.trim(), valueKind };
      const flag = await create({ key, enabledIn, ...texts });
      if (flag === undefined) return;
      onClose();
      onCreated(flag);
    },
  });

  return (
    <FormDialog title={messages.newFlag} form={form} action={words.submit} onClose={onClose}>
      <div>
        <TextField
          label={words.key}
          hint={words.keyHint}
          error={fault ?? form.problem('key')}
          className="font-mono text-xs"
          data-autofocus
          spellCheck={false}
          maxLength={128}
          placeholder="new-checkout"
          value={key}
          onChange={setKey}
        />
        <SlugOffer text={key} pattern={FLAG_KEY_PATTERN} onUse={setKey} />
      </div>

      <Field label={words.description} hint={words.descriptionHint}>
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

      <ChoiceField
        legend={words.valueKind}
        hint={VALUE_KIND_HINT}
        layout="boxes"
        choices={VALUE_KINDS}
        selected={valueKind}
        onSelect={setValueKind}
      />

      <div className="grid gap-4 sm:grid-cols-2">
        <TagField
          label={words.tags}
          hint={words.tagsHint}
          tags={tags}
          known={known.tags}
          onChange={setTags}
        />
        <PeopleField
          label={words.owner}
          hint={words.ownerHint}
          value={owner}
          others={known.owners}
          onChange={setOwner}
        />
      </div>

      <InitialStates environments={project.environments} enabledIn={enabledIn} onChange={setEnabledIn} />
    </FormDialog>
  );
}

/** The problem with a key; `undefined` if it is valid. */
function faultOf(key: string, flags: readonly FlagRecord[]): string | undefined {
  if (!FLAG_KEY_PATTERN.test(key)) return words.keyRule;
  return flags.some((flag) => flag.key === key) ? words.keyTaken : undefined;
}

/** The initial state in each environment. The flag is not set where the person may not change anything. */
function InitialStates({
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
      <legend className="mb-1 font-medium">{words.initialState}</legend>
      <ul className="divide-y divide-line rounded-md border border-line">
        {environments.map((environment) => {
          const { name } = environment;
          const refusal = readOnlyReason(environment);

          return (
            <li key={name} className="flex h-10 items-center gap-2 px-3" title={refusal}>
              <EnvironmentBadge environment={environment} className="flex-1" />
              <span className="text-xs text-ink-3">
                {refusal !== undefined
                  ? words.notAllowed
                  : enabledIn.has(name)
                    ? messages.list.on
                    : messages.list.off}
              </span>
              <Switch
                label={words.initialStateIn(name)}
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

/** The input for a new flag. */
interface FlagDraft extends Omit<NewFlag, 'states'> {
  readonly enabledIn: ReadonlySet<string>;
}

/**
 * Creates a flag in every environment that the person may change; asks first before turning it on in a protected one.
 * Resolves with the flag, or with `undefined` when the person cancels; rejects with the refusal.
 */
function useCreateGuarded(project: ProjectRecord): (draft: FlagDraft) => Promise<FlagRecord | undefined> {
  const { askConsent } = useChangeGuards();
  const readOnlyReason = useReadOnlyReason();
  const { mutateAsync } = useCreateFlag(project.name);
  return useCallback(
    async ({ enabledIn, ...flag }) => {
      const states: Record<string, FlagState> = {};
      const confirmed: string[] = [];
      let wanted: Wanted = { note: undefined };
      for (const environment of project.environments.filter((each) => readOnlyReason(each) === undefined)) {
        const { name } = environment;
        const after = { enabled: enabledIn.has(name) };
        const steps = [{ key: flag.key, before: undefined, after }];
        // A flag that is not set is off anyway, and setting it would need approval or a reason.
        if (!after.enabled && (environment.approvals > 0 || environment.reasonRequired)) continue;
        // One proposal, or one emergency, is for all of it.
        if (after.enabled && wanted.wish === undefined) {
          const { note } = wanted;
          const consent = await askConsent({ project: project.name, environment, steps, note });
          if (consent === undefined) return undefined;
          wanted = consent;
        }
        states[name] = after;
        if (environment.protected) confirmed.push(name);
      }
      return mutateAsync({ flag: { ...flag, states }, confirmed, ...wanted });
    },
    [project, askConsent, readOnlyReason, mutateAsync],
  );
}
