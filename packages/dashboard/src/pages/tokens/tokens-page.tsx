import Plus from 'lucide-react/icons/plus';
import Terminal from 'lucide-react/icons/terminal';
import { useCallback, useState } from 'react';
import { useCan } from '../../api/session.ts';
import { type TokenRecord, tokenStatus, useTokens } from '../../api/tokens.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { Page } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { ReadOnlyNote } from '../../components/read-only-note.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { useCreateCommand } from '../../shell/use-create-command.ts';
import { CreateTokenDialog } from './create-token-dialog.tsx';
import { TokenList } from './token-list.tsx';

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
