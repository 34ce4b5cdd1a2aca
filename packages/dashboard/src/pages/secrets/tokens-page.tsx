import Terminal from 'lucide-react/icons/terminal';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan } from '../../api/session.ts';
import { revokeToken, tokenStatus, useTokens } from '../../api/tokens.ts';
import type { TokenRecord } from '../../api/types.ts';
import { useCreating } from '../../browser/use-search-state.ts';
import { Badge } from '../../components/badges.tsx';
import { CreateButton } from '../../components/button.tsx';
import { useCreateCommand } from '../../components/commands.tsx';
import { LifeList } from '../../components/life-list.tsx';
import { LifeBadge, LifeCells, type LifeStatus } from '../../components/lifetime.tsx';
import { Page, ReadOnlyNote } from '../../components/page.tsx';
import { protectedText, RightsText } from '../../components/permission-fields.tsx';
import { RevokeActions } from '../../components/revoke.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { RecordCell, RecordHead, RecordRow } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { CreateTokenDialog } from './create-token-dialog.tsx';
import { messages } from './token-messages.tsx';

/** The screen "Access tokens": what the command line and pipelines sign in with. */
export function TokensPage() {
  const canChange = useCan('admin');
  const { data: tokens, error, refetch } = useTokens({ enabled: canChange });
  const { isCreating, start, stop } = useCreating();
  useCreateCommand({ id: 'token.new', title: messages.createCommand, isAllowed: canChange, run: start });
  const create = canChange && <CreateButton onClick={start}>{messages.create}</CreateButton>;
  return (
    <Page title={messages.title} actions={tokens?.length !== 0 && create} intro={messages.intro}>
      <ReadOnlyNote>{messages.readOnly}</ReadOnlyNote>
      {!canChange ? null : error !== null && tokens === undefined ? (
        <Problem error={error} onRetry={() => void refetch()} />
      ) : tokens === undefined ? (
        <SkeletonRows />
      ) : tokens.length === 0 ? (
        <EmptyState icon={<Terminal size={20} aria-hidden />} title={messages.emptyTitle} action={create}>
          {messages.empty}
        </EmptyState>
      ) : (
        <TokenList tokens={tokens} canChange={canChange} />
      )}
      {isCreating && canChange && <CreateTokenDialog onClose={stop} />}
    </Page>
  );
}

function TokenList({ tokens, canChange }: { tokens: readonly TokenRecord[]; canChange: boolean }) {
  const now = Date.now();
  const statusOf = (token: TokenRecord) => tokenStatus(token, now);
  return (
    <LifeList
      label={messages.list}
      filterLabel={messages.find}
      columns={messages.columns}
      items={tokens}
      statusOf={statusOf}
      textsOf={({ name, role, projects = [], only = '' }) => [
        ...[name, role, only],
        ...projects.map(({ project }) => project),
      ]}
    >
      {(token) => <TokenRow key={token.id} token={token} status={statusOf(token)} canChange={canChange} />}
    </LifeList>
  );
}

function TokenRow({
  token,
  status,
  canChange,
}: {
  token: TokenRecord;
  status: LifeStatus;
  canChange: boolean;
}) {
  const { id, name, only, lastUsedAt } = token;
  const [, statusColumn, roleColumn, protectedColumn] = messages.columns;
  return (
    <RecordRow isOver={status !== 'active'}>
      <RecordHead>
        <span className="font-medium">{name}</span>
      </RecordHead>
      <RecordCell label={statusColumn.label}>
        <LifeBadge status={status} expiresAt={token.expiresAt} />
      </RecordCell>
      <RecordCell label={roleColumn.label}>
        <RightsText rights={token} />
        {only !== undefined && <Badge>{messages.limited[only]}</Badge>}
      </RecordCell>
      <RecordCell label={protectedColumn.label} className="lg:whitespace-nowrap">
        {protectedText(token)}
      </RecordCell>
      <LifeCells record={token} />
      <RevokeActions
        name={name}
        isPossible={canChange && status !== 'revoked'}
        texts={messages}
        body={() => messages.revokeBody(lastUsedAt && <TimeAgo at={lastUsedAt} />)}
        run={() => revokeToken(id)}
        stale={[queryKeys.tokens]}
      />
    </RecordRow>
  );
}
