import { useState } from 'react';
import { queryKeys } from '../../api/query-cache.ts';
import { createRelayToken, revokeRelayToken } from '../../api/relay-tokens.ts';
import { useEvaluationUrl } from '../../api/session.ts';
import { CodeSection } from '../../components/copy.tsx';
import { NameField, TextField } from '../../components/field.tsx';
import { FormDialog, useForm } from '../../components/form.tsx';
import { announce } from '../../components/live-region.tsx';
import { LostSecret } from '../../components/lost-secret.tsx';
import { messages as design } from '../../components/messages.ts';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { tagsOf } from '../../flags/flag-tags.ts';
import { messages } from './relay-token-messages.tsx';

/** Creates a relay token and shows it once. */
export function CreateRelayTokenDialog({ onClose }: { onClose: () => void }) {
  const [name, setName] = useState('');
  const [projects, setProjects] = useState('');
  const [environments, setEnvironments] = useState('');
  // Only in this component's state, so that it disappears with the dialog.
  const [secret, setSecret] = useState<string>();
  const baseUrl = useEvaluationUrl();
  const form = useForm({
    problems: {
      name: name.trim() === '' ? messages.nameMissing : undefined,
      projects: namesProblem(projects),
      environments: namesProblem(environments),
    },
    submit: async () => {
      const scope = { ...namesMember('projects', projects), ...namesMember('environments', environments) };
      const created = await createRelayToken({ name, ...scope });
      announce(messages.created);
      setSecret(created.token);
    },
    stale: [queryKeys.relayTokens],
  });
  if (secret !== undefined) {
    const title = messages.secretTitle(name.trim());
    return (
      <SecretDialog title={title} what={messages.secretKind} secret={secret} onClose={onClose}>
        <div className="mt-4">
          <CodeSection
            title={messages.settingsTitle}
            label={messages.settingsLabel}
            code={settings(baseUrl, secret)}
          />
        </div>
      </SecretDialog>
    );
  }
  return (
    <FormDialog
      title={messages.createTitle}
      form={form}
      action={messages.createAction}
      lost={(answer) => (
        <LostSecret
          {...{ answer, onClose }}
          text={design.lostSecret.ofKind(messages.secretKind)}
          revoke={revokeRelayToken}
        />
      )}
      onClose={onClose}
    >
      <NameField value={name} onChange={setName} hint={messages.nameHint} error={form.problem('name')} />
      <TextField
        label={messages.projects}
        hint={messages.projectsHint}
        error={form.problem('projects')}
        {...NAMES}
        value={projects}
        onChange={setProjects}
      />
      <TextField
        label={messages.environments}
        hint={messages.environmentsHint}
        error={form.problem('environments')}
        {...NAMES}
        value={environments}
        onChange={setEnvironments}
      />
    </FormDialog>
  );
}

const NAMES = { autoComplete: 'off', autoCapitalize: 'off', spellCheck: false } as const;

/** Commas without a name must not mean all. */
function namesProblem(text: string): string | undefined {
  return text.trim() !== '' && tagsOf(text).length === 0 ? messages.namesMissing : undefined;
}

/** The member of a request; nothing for all. */
function namesMember(member: 'projects' | 'environments', text: string) {
  return text.trim() === '' ? {} : { [member]: tagsOf(text) };
}

function settings(baseUrl: string, secret: string): string {
  return `export HALYARD_UPSTREAM=${baseUrl}\nexport HALYARD_RELAY_TOKEN=${secret}\nhalyard relay`;
}
