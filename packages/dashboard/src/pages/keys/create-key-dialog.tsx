import { useId, useState } from 'react';
import { createKey } from '../../api/keys.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useEvaluationUrl } from '../../api/session.ts';
import type { EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { CodeSection } from '../../components/copy.tsx';
import { NameField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { type Expiry, ExpiryField, expiryMember } from '../../components/lifetime.tsx';
import { announce } from '../../components/live-region.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { SelectField } from '../../components/select.tsx';
import { messages } from './messages.tsx';

/** Creates a key and shows it once. */
export function CreateKeyDialog({ project, onClose }: { project: ProjectRecord; onClose: () => void }) {
  const [name, setName] = useState('');
  const [selected, setSelected] = useState<readonly string[]>([]);
  const [expiry, setExpiry] = useState<Expiry>({ kind: 'never' });
  // Only in this component's state, so that it disappears with the dialog.
  const [secret, setSecret] = useState<string>();
  const form = useForm({
    problems: {
      name: name.trim() === '' ? messages.nameMissing : undefined,
      environments: selected.length === 0 ? messages.environmentMissing : undefined,
      expiry: expiry.kind === 'unusable' ? messages.expiryMissing : undefined,
    },
    submit: async () => {
      const key = { name, environments: selected, ...expiryMember(expiry) };
      const created = await createKey(project.name, key);
      announce(messages.created);
      setSecret(created.key);
    },
    stale: [queryKeys.keys(project.name)],
  });
  if (secret !== undefined)
    return <NewKeyDialog name={name.trim()} secret={secret} environments={selected} onClose={onClose} />;
  return (
    <FormDialog title={messages.createTitle} form={form} action={messages.createAction} onClose={onClose}>
      <NameField value={name} onChange={setName} hint={messages.nameHint} error={form.problem('name')} />
      <EnvironmentCheckboxes
        environments={project.environments}
        selected={selected}
        onChange={setSelected}
        error={form.problem('environments')}
      />
      <ExpiryField hint={messages.expiryHint} isTried={form.isTried} onChange={setExpiry} />
    </FormDialog>
  );
}

/** Asks which environments a key can read. */
function EnvironmentCheckboxes({
  environments,
  selected,
  onChange,
  error,
}: {
  environments: readonly EnvironmentRecord[];
  selected: readonly string[];
  onChange: (names: readonly string[]) => void;
  error: string | undefined;
}) {
  const noteId = useId();
  function toggle(name: string, isSelected: boolean): void {
    const names = environments.map((environment) => environment.name);
    onChange(names.filter((each) => (each === name ? isSelected : selected.includes(each))));
  }
  return (
    <fieldset
      className="min-w-0"
      aria-describedby={noteId}
      data-invalid={error === undefined ? undefined : true}
    >
      <legend className="mb-1 font-medium">{messages.environments}</legend>
      <div className="relative max-h-52 divide-y divide-line overflow-y-auto rounded-md border border-line">
        {environments.map((environment) => (
          <label
            key={environment.name}
            className="flex min-h-9 items-center gap-2.5 px-3 has-checked:bg-accent-soft"
          >
            <input
              type="checkbox"
              checked={selected.includes(environment.name)}
              onChange={(event) => toggle(environment.name, event.target.checked)}
            />
            <EnvironmentBadge environment={environment} />
          </label>
        ))}
      </div>
      <p id={noteId} className={`mt-1 text-xs ${error === undefined ? 'text-ink-3' : 'text-danger'}`}>
        {error ?? messages.environmentsHint}
      </p>
    </fieldset>
  );
}

/** Shows a new key once, with examples to copy. */
function NewKeyDialog({
  name,
  secret,
  environments,
  onClose,
}: {
  name: string;
  secret: string;
  environments: readonly string[];
  onClose: () => void;
}) {
  const baseUrl = useEvaluationUrl();
  const [environment, setEnvironment] = useState(environments[0] ?? '');
  return (
    <SecretDialog
      title={messages.secretTitle(name)}
      what={messages.secretKind}
      secret={secret}
      onClose={onClose}
    >
      <div className="mt-4 flex flex-col gap-3">
        {environments.length > 1 && (
          <SelectField
            label={messages.examplesFor}
            className="sm:max-w-56"
            value={environment}
            onSelect={setEnvironment}
            choices={environments}
          />
        )}
        <CodeSection
          title={messages.dotEnvTitle}
          label={messages.dotEnvLabel}
          code={dotEnv(baseUrl, secret, environment)}
        />
        <CodeSection
          title={messages.curlTitle}
          label={messages.curlLabel}
          code={curl(baseUrl, secret, environment)}
        />
      </div>
    </SecretDialog>
  );
}

function dotEnv(baseUrl: string, secret: string, environment: string): string {
  return `HALYARD_URL=${baseUrl}\nHALYARD_KEY=${secret}\nHALYARD_ENVIRONMENT=${environment}`;
}

function curl(baseUrl: string, secret: string, environment: string): string {
  return `curl "${baseUrl}/v1/flags?env=${environment}" \\\n  -H "X-Service-Key: ${secret}"`;
}
