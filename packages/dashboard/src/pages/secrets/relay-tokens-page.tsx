import RadioTower from 'lucide-react/icons/radio-tower';
import { queryKeys } from '../../api/query-cache.ts';
import { revokeRelayToken, useRelayTokens } from '../../api/relay-tokens.ts';
import { useCan } from '../../api/session.ts';
import type { RelayTokenRecord } from '../../api/types.ts';
import { TimeCell } from '../../components/lifetime.tsx';
import { ListScreen } from '../../components/list-screen.tsx';
import { RecordCell } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { CreateRelayTokenDialog } from './create-relay-token-dialog.tsx';
import { relayTokenTexts as texts } from './messages.tsx';
import { SecretList, SecretRow } from './secret-list.tsx';

/** The screen "Relay tokens": what relays follow this server with. */
export function RelayTokensPage() {
  const canChange = useCan('admin');
  return (
    <ListScreen
      texts={texts}
      command="relay-token.new"
      reading={useRelayTokens({ enabled: canChange })}
      isEmpty={(tokens) => tokens.length === 0}
      icon={RadioTower}
      canRead={canChange}
      canCreate={canChange}
      dialog={(stop) => <CreateRelayTokenDialog onClose={stop} />}
    >
      {(tokens) => (
        <SecretList
          texts={texts}
          items={tokens}
          statusOf={statusOf}
          textsOf={({ name, projects = [], environments = [] }) => [name, ...projects, ...environments]}
        >
          {(token) => <RelayTokenRow key={token.id} token={token} />}
        </SecretList>
      )}
    </ListScreen>
  );
}

function statusOf({ revokedAt }: RelayTokenRecord): 'active' | 'revoked' {
  return revokedAt === undefined ? 'active' : 'revoked';
}

const [, , projectsColumn, environmentsColumn, contactColumn, createdColumn] = texts.columns;

function RelayTokenRow({ token }: { token: RelayTokenRecord }) {
  const { id, projects, environments, lastUsedAt, createdAt } = token;
  return (
    <SecretRow
      texts={texts}
      record={token}
      status={statusOf(token)}
      question={() => texts.revokeBody(lastUsedAt && <TimeAgo at={lastUsedAt} />)}
      revoke={() => revokeRelayToken(id)}
      stale={[queryKeys.relayTokens]}
    >
      <RecordCell label={projectsColumn.label}>
        {projects === undefined ? texts.allProjects : projects.join(', ') || texts.noProject}
      </RecordCell>
      <RecordCell label={environmentsColumn.label}>
        {environments?.join(', ') ?? texts.allEnvironments}
      </RecordCell>
      <TimeCell label={contactColumn.label} at={lastUsedAt} />
      <TimeCell label={createdColumn.label} at={createdAt} />
    </SecretRow>
  );
}
