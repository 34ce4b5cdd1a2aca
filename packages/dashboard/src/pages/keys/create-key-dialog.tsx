import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useId, useState } from 'react';
import { createKey } from '../../api/keys.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useEvaluationUrl } from '../../api/session.ts';
import type { EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
import { RefusalNote } from '../../changes/actions.tsx';
import { EnvironmentBadge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { CodeBlock } from '../../components/copy.tsx';
import { Dialog, DialogActions } from '../../components/dialog.tsx';
import { Field, NameField } from '../../components/field.tsx';
import { type Expiry, ExpiryField, expiryMember } from '../../components/lifetime.tsx';
import { announce } from '../../components/live-region.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';

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

/** Asks which environments a key opens. */
function EnvironmentChoice({
  environments,
  chosen,
  onChange,
  error,
}: {
  environments: readonly EnvironmentRecord[];
  chosen: readonly string[];
  onChange: (names: readonly string[]) => void;
  error: string | undefined;
}) {
  const noteId = useId();
  function toggle(name: string, isChosen: boolean): void {
    const names = environments.map((environment) => environment.name);
    onChange(names.filter((each) => (each === name ? isChosen : chosen.includes(each))));
  }
  return (
    <fieldset className="min-w-0" aria-describedby={noteId}>
      <legend className="mb-1 font-medium">Environments</legend>
      <div className="relative max-h-52 divide-y divide-line overflow-y-auto rounded-md border border-line">
        {environments.map((environment) => (
          <label
            key={environment.name}
            className="flex min-h-9 items-center gap-2.5 px-3 has-checked:bg-accent-soft"
          >
            <input
              type="checkbox"
              className="size-4 shrink-0 accent-accent"
              checked={chosen.includes(environment.name)}
              onChange={(event) => toggle(environment.name, event.target.checked)}
            />
            <EnvironmentBadge environment={environment} />
          </label>
        ))}
      </div>
      <p id={noteId} className={`mt-1 text-xs ${error === undefined ? 'text-ink-3' : 'text-danger'}`}>
        {error ?? 'The key reads these and nothing else. One environment each is safest.'}
      </p>
    </fieldset>
  );
}

/** Shows a new key once, with what to paste where. */
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
    <SecretDialog title={`The key ${name}`} what="key" secret={secret} onClose={onClose}>
      <div className="mt-4 flex flex-col gap-3">
        {environments.length > 1 && (
          <Field label="Examples for">
            {(control) => (
              <select
                {...control}
                className={`${control.className} sm:max-w-56`}
                value={environment}
                onChange={(event) => setEnvironment(event.target.value)}
              >
                {environments.map((each) => (
                  <option key={each}>{each}</option>
                ))}
              </select>
            )}
          </Field>
        )}
        <section>
          <h3 className="mb-1 font-medium">For your application: .env</h3>
          <CodeBlock label="Settings for .env" code={dotEnv(baseUrl, secret, environment)} />
        </section>
        <section>
          <h3 className="mb-1 font-medium">To try it: curl</h3>
          <CodeBlock label="curl command" code={curl(baseUrl, secret, environment)} />
        </section>
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
