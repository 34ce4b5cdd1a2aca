import RadioTower from 'lucide-react/icons/radio-tower';
import { queryKeys } from '../../api/query-cache.ts';
import { revokeRelayToken, useRelayTokens } from '../../api/relay-tokens.ts';
import { useCan } from '../../api/session.ts';
import type { RelayTokenRecord } from '../../api/types.ts';
import { useCreating } from '../../browser/use-search-state.ts';
import { CreateButton } from '../../components/button.tsx';
import { useCreateCommand } from '../../components/commands.tsx';
import { LifeList } from '../../components/life-list.tsx';
import { LifeBadge, TimeCell } from '../../components/lifetime.tsx';
import { Page, ReadOnlyNote } from '../../components/page.tsx';
import { RevokeActions } from '../../components/revoke.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { RecordCell, RecordHead, RecordRow } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { CreateRelayTokenDialog } from './create-relay-token-dialog.tsx';
import { messages } from './relay-token-messages.tsx';

/** The screen "Relay tokens": what relays follow this server with. */
export function RelayTokensPage() {
  const canChange = useCan('admin');
  const { data: tokens, error, refetch } = useRelayTokens({ enabled: canChange });
  const { isCreating, start, stop } = useCreating();
  useCreateCommand({
    id: 'relay-token.new',
    title: messages.createCommand,
    isAllowed: canChange,
    run: start,
  });
  const create = canChange && <CreateButton onClick={start}>{messages.create}</CreateButton>;
  return (
    <Page title={messages.title} actions={tokens?.length !== 0 && create} intro={messages.intro}>
      <ReadOnlyNote>{messages.readOnly}</ReadOnlyNote>
      {!canChange ? null : error !== null && tokens === undefined ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : tokens === undefined ? (
        <SkeletonRows />
      ) : tokens.length === 0 ? (
        <EmptyState icon={<RadioTower size={20} aria-hidden />} title={messages.emptyTitle} action={create}>
          {messages.empty}
        </EmptyState>
      ) : (
        <LifeList
          label={messages.list}
          filterLabel={messages.find}
          columns={messages.columns}
          items={tokens}
          statusOf={statusOf}
          textsOf={({ name, projects = [], environments = [] }) => [name, ...projects, ...environments]}
        >
          {(token) => <RelayTokenRow key={token.id} token={token} canChange={canChange} />}
        </LifeList>
      )}
      {isCreating && canChange && <CreateRelayTokenDialog onClose={stop} />}
    </Page>
  );
}

function statusOf({ revokedAt }: RelayTokenRecord): 'active' | 'revoked' {
  return revokedAt === undefined ? 'active' : 'revoked';
}

function RelayTokenRow({ token, canChange }: { token: RelayTokenRecord; canChange: boolean }) {
  const { id, name, projects, environments, lastUsedAt, createdAt } = token;
  const status = statusOf(token);
  const [, statusColumn, projectsColumn, environmentsColumn, contactColumn, createdColumn] = messages.columns;
  return (
    <RecordRow isOver={status !== 'active'}>
      <RecordHead>
        <span className="font-medium">{name}</span>
      </RecordHead>
      <RecordCell label={statusColumn.label}>
        <LifeBadge status={status} expiresAt={undefined} />
      </RecordCell>
      <RecordCell label={projectsColumn.label}>
        {projects === undefined ? messages.allProjects : projects.join(', ') || messages.noProject}
      </RecordCell>
      <RecordCell label={environmentsColumn.label}>
        {environments?.join(', ') ?? messages.allEnvironments}
      </RecordCell>
      <TimeCell label={contactColumn.label} at={lastUsedAt} />
      <TimeCell label={createdColumn.label} at={createdAt} />
      <RevokeActions
        name={name}
        isPossible={canChange && status !== 'revoked'}
        texts={messages}
        body={() => messages.revokeBody(lastUsedAt && <TimeAgo at={lastUsedAt} />)}
        run={() => revokeRelayToken(id)}
        stale={[queryKeys.relayTokens]}
      />
    </RecordRow>
  );
}
