import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { projectQuery, useProjects } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { createRelayToken, revokeRelayToken } from '../../api/relay-tokens.ts';
import { useEvaluationUrl } from '../../api/session.ts';
import { CodeSection } from '../../components/copy.tsx';
import { TagField } from '../../components/tag-input.tsx';
import { CreateSecretDialog } from './create-secret-dialog.tsx';
import { relayTokenTexts as texts } from './messages.tsx';

/** Creates a relay token and shows it once. */
export function CreateRelayTokenDialog({ onClose }: { onClose: () => void }) {
  const [projects, setProjects] = useState<readonly string[]>([]);
  const [environments, setEnvironments] = useState<readonly string[]>([]);
  const { data: all = [] } = useProjects();
  const names = all.map(({ name }) => name);
  const isMeant = (name: string) => projects.length === 0 || projects.includes(name);
  const environmentNames = useEnvironmentNames(names.filter(isMeant));
  const baseUrl = useEvaluationUrl();

  async function create(name: string) {
    const { id, token } = await createRelayToken({
      name,
      ...(projects.length > 0 && { projects }),
      ...(environments.length > 0 && { environments }),
    });
    return { id, secret: token };
  }

  return (
    <CreateSecretDialog
      texts={texts}
      problems={{}}
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
      {() => (
        <>
          <TagField
            label={texts.projects}
            hint={texts.projectsHint}
            words={texts.projectWords}
            tags={projects}
            known={names}
            onChange={setProjects}
          />

          <TagField
            label={texts.environments}
            hint={texts.environmentsHint}
            words={texts.environmentWords}
            tags={environments}
            known={environmentNames}
            onChange={setEnvironments}
          />
        </>
      )}
    </CreateSecretDialog>
  );
}

/** The environments of how many projects are offered: each project is a request. Others can be typed. */
const MOST = 20;

/** The names of the environments that some projects have, each once. */
function useEnvironmentNames(projects: readonly string[]): readonly string[] {
  const read = useQueries({ queries: projects.slice(0, MOST).map(projectQuery) });
  return [...new Set(read.flatMap(({ data }) => data?.environments.map(({ name }) => name) ?? []))];
}

function settings(baseUrl: string, secret: string): string {
  return `export HALYARD_UPSTREAM=${baseUrl}\nexport HALYARD_RELAY_TOKEN=${secret}\nhalyard relay`;
}
