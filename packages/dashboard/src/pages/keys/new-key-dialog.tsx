import { useState } from 'react';
import { useEvaluationUrl } from '../../api/session.ts';
import { CodeBlock } from '../../components/code-block.tsx';
import { Field } from '../../components/field.tsx';
import { SecretDialog } from '../../components/secret-dialog.tsx';

/** Shows a new key once, with what to paste where. */
export function NewKeyDialog({
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
