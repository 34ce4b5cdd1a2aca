import { useState } from 'react';
import { queryKeys } from '../../api/query-cache.ts';
import { createRelayToken, revokeRelayToken } from '../../api/relay-tokens.ts';
import { useEvaluationUrl } from '../../api/session.ts';
import { CodeSection } from '../../components/copy.tsx';
import { TextField } from '../../components/field.tsx';
import { tagsOf } from '../../flags/flag-tags.ts';
import { CreateSecretDialog } from './create-secret-dialog.tsx';
import { relayTokenTexts as texts } from './messages.tsx';

/** Creates a relay token and shows it once. */
export function CreateRelayTokenDialog({ onClose }: { onClose: () => void }) {
  const [projects, setProjects] = useState('');
  const [environments, setEnvironments] = useState('');
  const baseUrl = useEvaluationUrl();

  async function create(name: string) {
    const { id, token } = await createRelayToken({
      name,
      ...namesMember('projects', projects),
      ...namesMember('environments', environments),
    });
    return { id, secret: token };
  }

  return (
    <CreateSecretDialog
      texts={texts}
      problems={{ projects: namesProblem(projects), environments: namesProblem(environments) }}
      create={create}
      revoke={revokeRelayToken}
      stale={[queryKeys.relayTokens]}
      usage={({ secret }) => (
        <CodeSection
          title={texts.settingsTitle}
          label={texts.settingsLabel}
          code={settings(baseUrl, secret)}
        />
      )}
      onClose={onClose}
    >
      {(form) => (
        <>
          <TextField
            label={texts.projects}
            hint={texts.projectsHint}
            error={form.problem('projects')}
            {...NAMES}
            value={projects}
            onChange={setProjects}
          />

          <TextField
            label={texts.environments}
            hint={texts.environmentsHint}
            error={form.problem('environments')}
            {...NAMES}
            value={environments}
            onChange={setEnvironments}
          />
        </>
      )}
    </CreateSecretDialog>
  );
}

const NAMES = { autoCapitalize: 'off', spellCheck: false } as const;

/** Commas without a name must not mean all. */
function namesProblem(text: string): string | undefined {
  return text.trim() !== '' && tagsOf(text).length === 0 ? texts.namesMissing : undefined;
}

/** The member of a request; nothing for all. */
function namesMember(member: 'projects' | 'environments', text: string) {
  return text.trim() === '' ? {} : { [member]: tagsOf(text) };
}

function settings(baseUrl: string, secret: string): string {
  return `export HALYARD_UPSTREAM=${baseUrl}\nexport HALYARD_RELAY_TOKEN=${secret}\nhalyard relay`;
}
