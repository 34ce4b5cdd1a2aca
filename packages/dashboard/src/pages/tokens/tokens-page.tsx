import Plus from 'lucide-react/icons/plus';
import Terminal from 'lucide-react/icons/terminal';
import { useCallback, useState } from 'react';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan } from '../../api/session.ts';
import { revokeToken, type TokenRecord, tokenStatus, useTokens } from '../../api/tokens.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { useAction } from '../../changes/actions.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { LifeBadge, LifeCells, type LifeStatus } from '../../components/lifetime.tsx';
import { ListFilter } from '../../components/list-filter.tsx';
import { Page, ReadOnlyNote } from '../../components/page.tsx';
import { protectedText, ROLE_NAMES } from '../../components/permission-fields.tsx';
import { EmptyState, Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow, RecordTable } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { useCreateCommand } from '../../shell/commands.tsx';
import { CreateTokenDialog } from './create-token-dialog.tsx';

/** The access tokens of the command line and of pipelines. */
export function TokensPage() {
  const { data: tokens, error, refetch } = useTokens();
  const canChange = useCan('admin');
  const [isCreating, setCreating] = useState(false);
  const start = useCallback(() => setCreating(true), []);
  useCreateCommand({ id: 'token.new', title: 'New access token', isAllowed: canChange, run: start });
  if (error !== null && tokens === undefined) return <Problem error={error} onRetry={() => void refetch()} />;
  const create = canChange && (
    <Button kind="primary" onClick={start}>
      <Plus size={15} aria-hidden /> New token
    </Button>
  );
  return (
    <Page
      title="Access tokens"
      actions={tokens?.length !== 0 && create}
      intro="The command line and pipelines manage this server with an access token. It belongs to no person, so it outlives whoever made it."
    >
      <ReadOnlyNote>Making and revoking access tokens</ReadOnlyNote>
      {tokens === undefined ? (
        <SkeletonRows />
      ) : tokens.length === 0 ? (
        <EmptyState icon={<Terminal size={20} aria-hidden />} title="No access token yet" action={create}>
          Make one for each pipeline or machine, with no more rights than it needs. Applications that read
          flags take a project key instead.
        </EmptyState>
      ) : (
        <TokenList tokens={sorted(tokens)} canChange={canChange} />
      )}
      {isCreating && <CreateTokenDialog onClose={() => setCreating(false)} />}
    </Page>
  );
}

/** Those that work first, the newest of each first. */
function sorted(tokens: readonly TokenRecord[]): readonly TokenRecord[] {
  const now = Date.now();
  const rank = (token: TokenRecord) => (tokenStatus(token, now) === 'active' ? 0 : 1);
  return tokens.toSorted((a, b) => rank(a) - rank(b) || Date.parse(b.createdAt) - Date.parse(a.createdAt));
}

const COLUMNS = [
  { label: 'Token' },
  { label: 'Status' },
  { label: 'Role' },
  { label: 'Protected' },
  { label: 'Last used' },
  { label: 'Created' },
  { label: 'Expires' },
  { label: 'Actions', isSilent: true },
] as const;

/** The access tokens in a table, with a filter that stands in the address. */
function TokenList({ tokens, canChange }: { tokens: readonly TokenRecord[]; canChange: boolean }) {
  const [search] = useSearchState();
  const [query, status] = [search.get('q')?.toLowerCase() ?? '', search.get('status') ?? ''];
  const now = Date.now();
  const found = tokens.filter(
    (token) =>
      (status === '' || tokenStatus(token, now) === status) &&
      (token.name.toLowerCase().includes(query) || token.role.includes(query)),
  );
  return (
    <>
      <ListFilter
        label="Find a token"
        statuses={['active', 'expired', 'revoked']}
        shown={found.length}
        total={tokens.length}
      />
      {found.length > 0 && (
        <RecordTable label="Access tokens" columns={COLUMNS}>
          {found.map((token) => (
            <TokenRow key={token.id} token={token} status={tokenStatus(token, now)} canChange={canChange} />
          ))}
        </RecordTable>
      )}
    </>
  );
}

/** One access token. */
function TokenRow({
  token,
  status,
  canChange,
}: {
  token: TokenRecord;
  status: LifeStatus;
  canChange: boolean;
}) {
  const revoke = useRevokeToken();
  const { name, role } = token;
  return (
    <RecordRow isOver={status !== 'active'}>
      <RecordHead>
        <span className="font-medium">{name}</span>
      </RecordHead>
      <RecordCell label="Status">
        <LifeBadge status={status} expiresAt={token.expiresAt} />
      </RecordCell>
      <RecordCell label="Role">{ROLE_NAMES[role]}</RecordCell>
      <RecordCell label="Protected" className="lg:whitespace-nowrap">
        {protectedText(token)}
      </RecordCell>
      <LifeCells record={token} />
      <RecordActions>
        {canChange && status !== 'revoked' && (
          <Button aria-label={`Revoke ${name}`} onClick={() => void revoke(token)}>
            Revoke
          </Button>
        )}
      </RecordActions>
    </RecordRow>
  );
}

/** Asks, by the token's name, and revokes it. */
function useRevokeToken(): (token: TokenRecord) => Promise<void> {
  const confirm = useConfirm();
  const perform = useAction();
  return async ({ id, name, lastUsedAt }) => {
    const isConfirmed = await confirm({
      title: `Revoke ${name}?`,
      body: (
        <p>
          Whatever uses this token can manage nothing any more, at once and for good.{' '}
          {lastUsedAt === undefined ? (
            'It was never used.'
          ) : (
            <>
              It was last used <TimeAgo at={lastUsedAt} />.
            </>
          )}
        </p>
      ),
      action: 'Revoke the token',
      isDangerous: true,
      typed: name,
    });
    if (!isConfirmed) return;
    await perform({
      run: () => revokeToken(id),
      done: `The token ${name} is revoked`,
      failed: `The token ${name} was not revoked`,
      stale: [queryKeys.tokens],
    });
  };
}
