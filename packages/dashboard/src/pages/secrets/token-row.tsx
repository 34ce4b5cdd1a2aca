import { queryKeys } from '../../api/query-cache.ts';
import type { TokenRecord } from '../../api/types.ts';
import { Badge } from '../../components/badges.tsx';
import { LifeCells, type LifeStatus } from '../../components/lifetime.tsx';
import { protectedText, RightsText } from '../../components/permission-fields.tsx';
import { RecordCell } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { tokenTexts as texts } from './messages.tsx';
import { SecretRow } from './secret-list.tsx';

/** What the filter of a list of access tokens searches. */
export function tokenWords({ name, role, projects = [], only, owner, exempt }: TokenRecord) {
  return [
    name,
    role,
    only ?? '',
    owner ?? '',
    exempt ? texts.exempt : '',
    ...projects.map(({ project }) => project),
  ];
}

const [, , roleColumn, protectedColumn] = texts.columns;

/** An access token in a list: what it may, when it ends, and the button that revokes it. */
export function TokenRow({
  token,
  status,
  detail,
  revoke,
}: {
  token: TokenRecord;
  status: LifeStatus;
  /** Below the name: to whom it belongs. */
  detail: string | undefined;
  revoke: (id: string) => Promise<unknown>;
}) {
  const { id, only, exempt, lastUsedAt } = token;

  return (
    <SecretRow
      texts={texts}
      record={token}
      status={status}
      detail={detail !== undefined && <span className="block text-xs text-ink-3">{detail}</span>}
      question={() => texts.revokeBody(lastUsedAt && <TimeAgo at={lastUsedAt} />)}
      revoke={() => revoke(id)}
      stale={[queryKeys.tokens]}
    >
      <RecordCell label={roleColumn.label}>
        <RightsText rights={token} />
        {only !== undefined && <Badge>{texts.limited[only]}</Badge>}
        {exempt && <Badge kind="warn">{texts.exempt}</Badge>}
      </RecordCell>
      <RecordCell label={protectedColumn.label} className="lg:whitespace-nowrap">
        {protectedText(token)}
      </RecordCell>
      <LifeCells record={token} />
    </SecretRow>
  );
}
