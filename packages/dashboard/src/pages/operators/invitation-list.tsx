import { messageOf } from '../../api/api-error.ts';
import { revokeInvitation } from '../../api/operators.ts';
import { queryKeys } from '../../api/query-cache.ts';
import type { InvitationRecord } from '../../api/types.ts';
import { useAction } from '../../components/actions.tsx';
import { Author } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { protectedText, RightsText } from '../../components/permission-fields.tsx';
import { SkeletonRows } from '../../components/screen-states.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow, RecordTable } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { messages } from './messages.tsx';

/** The links that still work. */
export function InvitationList({
  invitations,
  error,
  canChange,
}: {
  invitations: readonly InvitationRecord[] | undefined;
  error: Error | null;
  canChange: boolean;
}) {
  return (
    <section className="mt-8">
      <h2 className="mb-2 text-base font-semibold">{messages.links}</h2>
      {invitations === undefined ? (
        error === null ? (
          <SkeletonRows rows={1} />
        ) : (
          <p className="text-danger">{messageOf(error)}</p>
        )
      ) : invitations.length === 0 ? (
        <p className="text-ink-2">{messages.noLinks}</p>
      ) : (
        <RecordTable label={messages.links} columns={messages.linkColumns}>
          {invitations.map((invitation) => (
            <InvitationRow key={invitation.id} invitation={invitation} canChange={canChange} />
          ))}
        </RecordTable>
      )}
    </section>
  );
}

const [, kindColumn, roleColumn, protectedColumn, creatorColumn, expiryColumn] = messages.linkColumns;

function InvitationRow({ invitation, canChange }: { invitation: InvitationRecord; canChange: boolean }) {
  const perform = useAction();
  const { id, kind, email = messages.firstAdmin, createdBy, expiresAt } = invitation;

  return (
    <RecordRow>
      <RecordHead>
        <span className="font-medium wrap-anywhere">{email}</span>
      </RecordHead>
      <RecordCell label={kindColumn.label}>{messages.linkKinds[kind]}</RecordCell>
      <RecordCell label={roleColumn.label}>
        <RightsText rights={invitation} />
      </RecordCell>
      <RecordCell label={protectedColumn.label} className="lg:whitespace-nowrap">
        {protectedText(invitation)}
      </RecordCell>
      <RecordCell label={creatorColumn.label}>
        <Author actor={createdBy} />
      </RecordCell>
      <RecordCell label={expiryColumn.label} className="lg:whitespace-nowrap">
        <TimeAgo at={expiresAt} />
      </RecordCell>

      <RecordActions>
        {canChange && (
          <Button
            aria-label={messages.revokeLink(email)}
            onClick={() =>
              void perform({
                run: () => revokeInvitation(id),
                done: messages.linkRevoked(email),
                failed: messages.revokeFailed(email),
                stale: [queryKeys.invitations],
              })
            }
          >
            {messages.revoke}
          </Button>
        )}
      </RecordActions>
    </RecordRow>
  );
}
