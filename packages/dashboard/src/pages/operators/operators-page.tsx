import UserPlus from 'lucide-react/icons/user-plus';
import { useCallback, useState } from 'react';
import { type OfferedLink, useInvitations, useOperators } from '../../api/operators.ts';
import { useCan } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Page } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { ReadOnlyNote } from '../../components/read-only-note.tsx';
import { RecordTable } from '../../components/record-table.tsx';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { useCreateCommand } from '../../shell/use-create-command.ts';
import { InvitationList } from './invitation-list.tsx';
import { InviteDialog } from './invite-dialog.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { OperatorRow } from './operator-row.tsx';

const COLUMNS = [
  { label: 'Person' },
  { label: 'Role' },
  { label: 'Protected' },
  { label: 'Last seen' },
  { label: 'Joined' },
  { label: 'Actions', isSilent: true },
] as const;

/** The people who sign in, and the links that let somebody in. */
export function OperatorsPage() {
  const operators = useOperators();
  const invitations = useInvitations();
  const canChange = useCan('admin');
  const [isInviting, setInviting] = useState(false);
  const start = useCallback(() => setInviting(true), []);
  useCreateCommand({ id: 'operator.new', title: 'Invite somebody', isAllowed: canChange, run: start });
  // A link that has just been made stands here and nowhere else: it is shown once.
  const [offered, setOffered] = useState<OfferedLink>();
  if (operators.error !== null && operators.data === undefined) {
    return <Problem error={operators.error} onRetry={() => void operators.refetch()} />;
  }
  return (
    <Page
      title="Operators"
      actions={
        canChange && (
          <Button kind="primary" onClick={start}>
            <UserPlus size={15} aria-hidden /> Invite
          </Button>
        )
      }
      intro="The people who sign in to this dashboard. Halyard sends no mail: an invitation is a link that you hand over."
    >
      <ReadOnlyNote>Inviting and changing people</ReadOnlyNote>
      {operators.data === undefined ? (
        <SkeletonRows rows={3} />
      ) : (
        <RecordTable label="Operators" columns={COLUMNS}>
          {operators.data.map((operator) => (
            <OperatorRow key={operator.id} operator={operator} canChange={canChange} onOffered={setOffered} />
          ))}
        </RecordTable>
      )}
      {canChange && (
        <InvitationList invitations={invitations.data} error={invitations.error} canChange={canChange} />
      )}
      {isInviting && <InviteDialog onClose={() => setInviting(false)} onOffered={setOffered} />}
      {offered !== undefined && <LinkDialog offered={offered} onClose={() => setOffered(undefined)} />}
    </Page>
  );
}
