import Check from 'lucide-react/icons/check';
import LoaderCircle from 'lucide-react/icons/loader-circle';
import { useId, useState } from 'react';
import { useClients, useLivePresence } from '../../api/clients.ts';
import { createKey, revokeKey } from '../../api/keys.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useEvaluationUrl } from '../../api/session.ts';
import type { EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { classNames } from '../../components/class-names.ts';
import { CodeSection } from '../../components/copy.tsx';
import { type Expiry, ExpiryField, expiryMember } from '../../components/lifetime.tsx';
import { SelectField } from '../../components/select.tsx';
import { type CreatedSecret, CreateSecretDialog } from './create-secret-dialog.tsx';
import { keyTexts as texts } from './messages.tsx';

/** Creates a key and shows it once. `initial` is filled in. */
export function CreateKeyDialog({
  project,
  initial = { name: '', environments: [] },
  onClose,
}: {
  project: ProjectRecord;
  initial?: { readonly name: string; readonly environments: readonly string[] };
  onClose: () => void;
}) {
  const [selected, setSelected] = useState(initial.environments);
  const [expiry, setExpiry] = useState<Expiry>({ kind: 'never' });

  async function create(name: string): Promise<CreatedSecret> {
    const input = { name, environments: selected, ...expiryMember(expiry) };
    const { id, key } = await createKey(project.name, input);
    return { id, secret: key };
  }

  return (
    <CreateSecretDialog
      texts={texts}
      initialName={initial.name}
      problems={{
        environments: selected.length === 0 ? texts.environmentMissing : undefined,
        expiry: expiry.kind === 'unusable' ? texts.expiryMissing : undefined,
      }}
      create={create}
      revoke={revokeKey}
      stale={[queryKeys.keys(project.name), queryKeys.clients(project.name)]}
      usage={(created) => <KeyUsage project={project.name} created={created} environments={selected} />}
      onClose={onClose}
    >
      {(form) => (
        <>
          <EnvironmentCheckboxes
            environments={project.environments}
            selected={selected}
            onChange={setSelected}
            error={form.problem('environments')}
          />
          <ExpiryField hint={texts.expiryHint} isTried={form.isTried} onChange={setExpiry} />
        </>
      )}
    </CreateSecretDialog>
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
      <legend className="mb-1 font-medium">{texts.environments}</legend>
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
        {error ?? texts.environmentsHint}
      </p>
    </fieldset>
  );
}

/** Commands that use a new key, and when the first client connects with it. */
export function KeyUsage({
  project,
  created: { id, secret },
  environments,
}: {
  project: string;
  created: CreatedSecret;
  environments: readonly string[];
}) {
  const baseUrl = useEvaluationUrl();
  const [environment, setEnvironment] = useState(environments[0] ?? '');

  return (
    <>
      {environments.length > 1 && (
        <SelectField
          label={texts.examplesFor}
          className="sm:max-w-56"
          value={environment}
          onSelect={setEnvironment}
          choices={environments}
        />
      )}
      <CodeSection
        title={texts.curlTitle}
        label={texts.curlLabel}
        code={curl(baseUrl, secret, environment)}
      />
      <FirstConnection project={project} id={id} />
      <CodeSection title={texts.dotEnvTitle} label={texts.dotEnvLabel} code={dotEnv(baseUrl, secret)} />
    </>
  );
}

/** Waits for the first client that connects with the key `id`, and says so. */
function FirstConnection({ project, id }: { project: string; id: string }) {
  const { data } = useClients(project);
  useLivePresence(project);
  const streams = (data ?? [])
    .flatMap(({ keys }) => keys)
    .reduce((sum, key) => sum + (key.id === id ? key.streams : 0), 0);
  const [isSeen, setSeen] = useState(false);
  if (streams > 0 && !isSeen) setSeen(true);

  return (
    <p
      role="status"
      className={classNames(
        'flex items-center gap-2 rounded-md px-3 py-2',
        isSeen ? 'bg-good-soft text-good' : 'bg-hover text-ink-2',
      )}
    >
      {isSeen ? (
        <Check size={16} className="shrink-0" aria-hidden />
      ) : (
        <LoaderCircle size={16} className="shrink-0 animate-turn" aria-hidden />
      )}
      <span>{isSeen ? texts.connected : texts.waiting}</span>
    </p>
  );
}

function dotEnv(baseUrl: string, secret: string): string {
  return `HALYARD_URL=${baseUrl}\nHALYARD_KEY=${secret}`;
}

function curl(baseUrl: string, secret: string, environment: string): string {
  return `curl -N "${baseUrl}/v1/stream?env=${environment}" \\\n  -H "X-Service-Key: ${secret}"`;
}
