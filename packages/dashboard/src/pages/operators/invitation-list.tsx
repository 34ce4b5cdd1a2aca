import { messageOf } from '../../api/api-error.ts';
import { type InvitationRecord, revokeInvitation } from '../../api/operators.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useAction } from '../../changes/actions.tsx';
import { Author } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { protectedText, ROLE_NAMES } from '../../components/permission-fields.tsx';
import { SkeletonRows } from '../../components/screen-states.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow, RecordTable } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';

const COLUMNS = [
  { label: 'For' },
  { label: 'What' },
  { label: 'Role' },
  { label: 'Protected' },
  { label: 'Made by' },
  { label: 'Ends' },
  { label: 'Actions', isSilent: true },
] as const;

/** The links that still open something. */
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
      <h2 className="mb-2 text-base font-semibold">Open links</h2>
      {invitations === undefined ? (
        error === null ? (
          <SkeletonRows rows={1} />
        ) : (
          <p className="text-danger">{messageOf(error)}</p>
        )
      ) : invitations.length === 0 ? (
        <p className="text-ink-2">
          None. An invitation or a link for a new password stands here until it is used, withdrawn or too old.
        </p>
      ) : (
        <RecordTable label="Open links" columns={COLUMNS}>
          {invitations.map((invitation) => (
            <InvitationRow key={invitation.id} invitation={invitation} canChange={canChange} />
          ))}
        </RecordTable>
      )}
    </section>
  );
}

const KINDS: Readonly<Record<InvitationRecord['kind'], string>> = {
  setup: 'Set-up',
  invite: 'Invitation',
  reset: 'New password',
};

function InvitationRow({ invitation, canChange }: { invitation: InvitationRecord; canChange: boolean }) {
  const perform = useAction();
  const { id, kind, email = 'the first administrator', role, createdBy, expiresAt } = invitation;
  return (
    <RecordRow>
      <RecordHead>
        <span className="font-medium break-all">{email}</span>
      </RecordHead>
      <RecordCell label="What">{KINDS[kind]}</RecordCell>
      <RecordCell label="Role">{ROLE_NAMES[role]}</RecordCell>
      <RecordCell label="Protected" className="lg:whitespace-nowrap">
        {protectedText(invitation)}
      </RecordCell>
      <RecordCell label="Made by">
        <Author actor={createdBy} />
      </RecordCell>
      <RecordCell label="Ends" className="lg:whitespace-nowrap">
        <TimeAgo at={expiresAt} />
      </RecordCell>
      <RecordActions>
        {canChange && (
          <Button
            aria-label={`Withdraw the link for ${email}`}
            onClick={() =>
              void perform({
                run: () => revokeInvitation(id),
                done: `The link for ${email} is withdrawn`,
                failed: `The link for ${email} was not withdrawn`,
                stale: [queryKeys.invitations],
              })
            }
          >
            Withdraw
          </Button>
        )}
      </RecordActions>
    </RecordRow>
  );
}
