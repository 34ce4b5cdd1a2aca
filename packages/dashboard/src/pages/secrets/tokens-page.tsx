import Terminal from 'lucide-react/icons/terminal';
import { useCan } from '../../api/session.ts';
import { revokeToken, tokenStatus, useTokens } from '../../api/tokens.ts';
import type { TokenRecord } from '../../api/types.ts';
import { ListScreen } from '../../components/list-screen.tsx';
import { CreateTokenDialog } from './create-token-dialog.tsx';
import { tokenTexts as texts } from './messages.tsx';
import { SecretList } from './secret-list.tsx';
import { TokenRow, tokenWords } from './token-row.tsx';

/** The screen "Access tokens": what the command line and pipelines sign in with. */
export function TokensPage() {
  const canChange = useCan('admin');
  const now = Date.now();
  const statusOf = (token: TokenRecord) => tokenStatus(token, now);

  return (
    <ListScreen
      texts={texts}
      command="token.new"
      reading={useTokens({ enabled: canChange })}
      isEmpty={(tokens) => tokens.length === 0}
      icon={Terminal}
      canRead={canChange}
      canCreate={canChange}
      dialog={(stop) => <CreateTokenDialog onClose={stop} />}
    >
      {(tokens) => (
        <SecretList texts={texts} items={tokens} statusOf={statusOf} textsOf={tokenWords}>
          {(token) => (
            <TokenRow
              key={token.id}
              token={token}
              status={statusOf(token)}
              detail={token.owner && texts.ofPerson(token.owner)}
              revoke={revokeToken}
            />
          )}
        </SecretList>
      )}
    </ListScreen>
  );
}
