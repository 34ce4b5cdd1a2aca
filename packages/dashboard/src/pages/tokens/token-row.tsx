import { queryKeys } from '../../api/query-keys.ts';
import { revokeToken, type TokenRecord } from '../../api/tokens.ts';
import { useDeed } from '../../changes/use-deed.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { LifeBadge, type LifeStatus } from '../../components/life-badge.tsx';
import { LifeCells } from '../../components/life-cells.tsx';
import { protectedText, ROLE_NAMES } from '../../components/permission-fields.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow } from '../../components/record-table.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';

/** One access token. */
export function TokenRow({
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
  const deed = useDeed();
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
    await deed({
      run: () => revokeToken(id),
      done: `The token ${name} is revoked`,
      failed: `The token ${name} was not revoked`,
      stale: [queryKeys.tokens],
    });
  };
}
