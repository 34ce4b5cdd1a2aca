import Terminal from 'lucide-react/icons/terminal';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan } from '../../api/session.ts';
import { revokeToken, tokenStatus, useTokens } from '../../api/tokens.ts';
import type { TokenRecord } from '../../api/types.ts';
import { Badge } from '../../components/badges.tsx';
import { LifeCells, type LifeStatus } from '../../components/lifetime.tsx';
import { ListScreen } from '../../components/list-screen.tsx';
import { protectedText, RightsText } from '../../components/permission-fields.tsx';
import { RecordCell } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { CreateTokenDialog } from './create-token-dialog.tsx';
import { tokenTexts as texts } from './messages.tsx';
import { SecretList, SecretRow } from './secret-list.tsx';

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
        <SecretList
          texts={texts}
          items={tokens}
          statusOf={statusOf}
          textsOf={({ name, role, projects = [], only = '' }) => [
            name,
            role,
            only,
            ...projects.map(({ project }) => project),
          ]}
        >
          {(token) => <TokenRow key={token.id} token={token} status={statusOf(token)} />}
        </SecretList>
      )}
    </ListScreen>
  );
}

const [, , roleColumn, protectedColumn] = texts.columns;

function TokenRow({ token, status }: { token: TokenRecord; status: LifeStatus }) {
  const { id, only, lastUsedAt } = token;
  return (
    <SecretRow
      texts={texts}
      record={token}
      status={status}
      canChange
      question={() => texts.revokeBody(lastUsedAt && <TimeAgo at={lastUsedAt} />)}
      revoke={() => revokeToken(id)}
      stale={[queryKeys.tokens]}
    >
      <RecordCell label={roleColumn.label}>
        <RightsText rights={token} />
        {only !== undefined && <Badge>{texts.limited[only]}</Badge>}
      </RecordCell>
      <RecordCell label={protectedColumn.label} className="lg:whitespace-nowrap">
        {protectedText(token)}
      </RecordCell>
      <LifeCells record={token} />
    </SecretRow>
  );
}
