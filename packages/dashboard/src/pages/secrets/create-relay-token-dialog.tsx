import { useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import { projectQuery, useProjects } from '../../api/projects.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { createRelayToken, revokeRelayToken } from '../../api/relay-tokens.ts';
import { useEvaluationUrl } from '../../api/session.ts';
import { CodeSection } from '../../components/copy.tsx';
import { ChoiceField } from '../../components/field.tsx';
import { TagField } from '../../components/tag-input.tsx';
import { CreateSecretDialog } from './create-secret-dialog.tsx';
import { relayTokenTexts as texts } from './messages.tsx';

/** What a token opens: `undefined` is everything, also what will exist later. */
type Scope = readonly string[] | undefined;

/** Creates a relay token and shows it once. */
export function CreateRelayTokenDialog({ onClose }: { onClose: () => void }) {
  const [projects, setProjects] = useState<Scope>([]);
  const [environments, setEnvironments] = useState<Scope>([]);
  const { data: all = [] } = useProjects();
  const names = all.map(({ name }) => name);
  const environmentNames = useEnvironmentNames(names.filter((name) => projects?.includes(name) ?? true));
  const baseUrl = useEvaluationUrl();

  async function create(name: string) {
    const { id, token } = await createRelayToken({
      name,
      ...(projects !== undefined && { projects }),
      ...(environments !== undefined && { environments }),
    });
    return { id, secret: token };
  }

  return (
    <CreateSecretDialog
      texts={texts}
      problems={{
        projects: projects?.length === 0 ? texts.projects.missing : undefined,
        environments: environments?.length === 0 ? texts.environments.missing : undefined,
      }}
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
      {({ problem }) => (
        <>
          <ScopeField
            texts={texts.projects}
            error={problem('projects')}
            scope={projects}
            known={names}
            onChange={setProjects}
          />
          <ScopeField
            texts={texts.environments}
            error={problem('environments')}
            scope={environments}
            known={environmentNames}
            onChange={setEnvironments}
          />
        </>
      )}
    </CreateSecretDialog>
  );
}

/** Asks for some names, or for everything. No names are never everything: that would be a right by a slip. */
function ScopeField({
  texts: { legend, choices, names, words },
  error,
  scope,
  known,
  onChange,
}: {
  texts: typeof texts.projects | typeof texts.environments;
  error: string | undefined;
  scope: Scope;
  known: readonly string[];
  onChange: (scope: Scope) => void;
}) {
  return (
    <div className="flex flex-col gap-2">
      <ChoiceField
        legend={legend}
        layout="boxes"
        choices={[
          ['some', choices.some],
          ['all', choices.all],
        ]}
        selected={scope === undefined ? 'all' : 'some'}
        onSelect={(choice) => onChange(choice === 'all' ? undefined : [])}
      />
      {scope !== undefined && (
        <TagField label={names} error={error} words={words} tags={scope} known={known} onChange={onChange} />
      )}
    </div>
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
