import { type TokenRecord, tokenStatus } from '../../api/tokens.ts';
import { useSearchState } from '../../api/use-search-state.ts';
import { ListFilter } from '../../components/list-filter.tsx';
import { RecordTable } from '../../components/record-table.tsx';
import { TokenRow } from './token-row.tsx';

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
export function TokenList({ tokens, canChange }: { tokens: readonly TokenRecord[]; canChange: boolean }) {
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
