import { WEBHOOK_EVENTS } from '@halyard/protocol';
import { useEffect, useState } from 'react';
import { isRefusal } from '../../api/api-error.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { ProjectRecord, WebhookRecord } from '../../api/types.ts';
import { createWebhook, INSTALLATION, updateWebhook } from '../../api/webhooks.ts';
import { NameField, TextField } from '../../components/field.tsx';
import { type Form, FormDialog, useForm } from '../../components/form.tsx';
import { announce } from '../../components/live-region.tsx';
import { LostSecret } from '../../components/lost-secret.tsx';
import { MultiSelect } from '../../components/multi-select.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { SelectField } from '../../components/select.tsx';
import { toast } from '../../components/toasts.tsx';
import { messages } from './messages.tsx';

/** The members of its project that a webhook needs. A webhook of the installation has {@link INSTALLATION} instead. */
export type WebhookPlace = Pick<ProjectRecord, 'name' | 'environments'>;

/** The settings while they are edited. */
interface Draft {
  readonly url: string;
  readonly format: WebhookRecord['format'];
  readonly environments: readonly string[];
  readonly events: readonly string[];
}

const EMPTY: Draft = { url: '', format: 'json', environments: [], events: [] };

/** Creates a webhook and shows its signing secret once. */
export function CreateWebhookDialog({ project, onClose }: { project: WebhookPlace; onClose: () => void }) {
  const [name, setName] = useState('');
  const [draft, setDraft] = useState(EMPTY);
  // Only in this component's state, so that it disappears with the dialog.
  const [secret, setSecret] = useState<string>();
  const form = useForm({
    problems: {
      name: /^[a-z0-9][a-z0-9-]{0,63}$/.test(name) ? undefined : messages.nameMissing,
      url: urlProblem(draft.url),
    },
    submit: async () => {
      const created = await createWebhook(project.name, name, draft);
      announce(messages.created);
      setSecret(created.secret);
    },
    stale: [queryKeys.webhooks(project.name)],
  });
  const refusal = useUrlRefusal(form);
  if (secret !== undefined) return <WebhookSecretDialog name={name} secret={secret} onClose={onClose} />;

  return (
    <FormDialog
      title={messages.createTitle}
      form={refusal.form}
      action={messages.createAction}
      lost={(answer) => <LostSecret answer={answer} onClose={onClose} text={messages.secretLost} />}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} hint={messages.nameHint} error={form.problem('name')} />
      <SettingFields
        project={project}
        draft={draft}
        urlHint={messages.urlHint}
        urlProblem={refusal.urlProblem}
        onChange={setDraft}
      />
    </FormDialog>
  );
}

/** Changes the settings of a webhook. The address is kept when it is left empty, because a part of it may be hidden. */
export function EditWebhookDialog({
  project,
  webhook,
  onClose,
}: {
  project: WebhookPlace;
  webhook: WebhookRecord;
  onClose: () => void;
}) {
  const { name, format, environments, events } = webhook;
  const [draft, setDraft] = useState<Draft>({ url: '', format, environments, events });
  const form = useForm({
    problems: { url: draft.url === '' ? undefined : urlProblem(draft.url) },
    submit: async () => {
      const { url, ...others } = draft;
      await updateWebhook(project.name, name, url === '' ? others : draft);
      toast({ kind: 'done', title: messages.saved(name) });
      onClose();
    },
    stale: [queryKeys.webhooks(project.name)],
  });
  const refusal = useUrlRefusal(form);

  return (
    <FormDialog
      title={messages.editTitle(name)}
      form={refusal.form}
      action={messages.editAction}
      onClose={onClose}
    >
      <SettingFields
        project={project}
        draft={draft}
        urlHint={messages.urlKept}
        urlProblem={refusal.urlProblem}
        onChange={setDraft}
      />
    </FormDialog>
  );
}

/** Shows a signing secret once. */
export function WebhookSecretDialog({
  name,
  secret,
  isReplaced = false,
  onClose,
}: {
  name: string;
  secret: string;
  isReplaced?: boolean;
  onClose: () => void;
}) {
  return (
    <SecretDialog
      title={messages.secretTitle(name)}
      what={messages.secretKind}
      secret={secret}
      onClose={onClose}
    >
      <p className="mt-3 text-ink-2">
        {messages.secretUse} {isReplaced && messages.secretOverlap}
      </p>
    </SecretDialog>
  );
}

function SettingFields({
  project,
  draft,
  urlHint,
  urlProblem,
  onChange,
}: {
  project: WebhookPlace;
  draft: Draft;
  urlHint: string;
  urlProblem: string | undefined;
  onChange: (draft: Draft) => void;
}) {
  const known = project.environments.map((environment) => environment.name);
  // A deleted environment stays in the list until it is deselected.
  const environments = [...new Set([...known, ...draft.environments])];

  return (
    <>
      <TextField
        label={messages.url}
        hint={urlHint}
        error={urlProblem}
        type="url"
        spellCheck={false}
        placeholder="https://"
        maxLength={2000}
        value={draft.url}
        onChange={(url) => onChange({ ...draft, url: url.trim() })}
      />

      {project.name !== INSTALLATION && (
        <>
          <SelectField
            label={messages.format}
            value={draft.format}
            choices={messages.formats}
            onSelect={(format) => onChange({ ...draft, format: format === 'slack' ? 'slack' : 'json' })}
          />
          <SelectionField
            label={messages.environments}
            none={messages.anyEnvironment}
            options={environments}
            selected={draft.environments}
            onChange={(selected) => onChange({ ...draft, environments: selected })}
          />
          <SelectionField
            label={messages.events}
            none={messages.anyEvent}
            options={WEBHOOK_EVENTS}
            selected={draft.events}
            onChange={(selected) => onChange({ ...draft, events: selected })}
          />
        </>
      )}
    </>
  );
}

/** Selects some of a list, or none for all. */
function SelectionField({
  label,
  none,
  options,
  selected,
  onChange,
}: {
  label: string;
  none: string;
  options: readonly string[];
  selected: readonly string[];
  onChange: (selected: readonly string[]) => void;
}) {
  return (
    <div>
      <p className="mb-1 font-medium" aria-hidden>
        {label}
      </p>
      <MultiSelect
        label={label}
        none={none}
        options={options.map((value) => ({ value }))}
        selected={selected}
        onChange={onChange}
        className="w-full max-w-none justify-between"
      />
    </div>
  );
}

/** What is wrong with an address, as far as this form knows. */
function urlProblem(text: string): string | undefined {
  if (!/^https?:\/\/[^/]/.test(text) || !URL.canParse(text)) return messages.urlMissing;
  const { username, password } = new URL(text);
  return username + password === '' ? undefined : messages.urlCredentials;
}

/** The form without the refusal of its address, which is shown at the field instead and gets the focus. */
function useUrlRefusal(form: Form<'url'>) {
  const { error, props } = form;
  useEffect(() => {
    if (isUrlRefusal(error)) props.ref.current?.querySelector<HTMLElement>('[type="url"]')?.focus();
  }, [error, props.ref]);
  if (!isUrlRefusal(error)) return { form, urlProblem: form.problem('url') };
  return {
    form: { ...form, error: undefined },
    urlProblem: form.problem('url') ?? messages.urlRefused,
  };
}

function isUrlRefusal(error: unknown): boolean {
  return isRefusal(error, 'invalid_argument') && error.message.startsWith('"url"');
}
