import UserPlus from 'lucide-react/icons/user-plus';
import { useCallback, useState } from 'react';
import {
  type CreatedLink,
  createResetLink,
  onlyAdminText,
  removeOperator,
  useInvitations,
  useIsOnlyAdmin,
  useOperators,
} from '../../api/operators.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan, useOperator } from '../../api/session.ts';
import type { OperatorRecord } from '../../api/types.ts';
import { useAction } from '../../changes/actions.tsx';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { Page, ReadOnlyNote } from '../../components/page.tsx';
import { protectedText, ROLE_NAMES } from '../../components/permission-fields.tsx';
import { Problem, SkeletonRows } from '../../components/screen-states.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow, RecordTable } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { toast } from '../../components/toasts.tsx';
import { useCreateCommand } from '../../shell/commands.tsx';
import { leaveAtOnce } from '../../shell/leave-guard.ts';
import { InvitationList } from './invitation-list.tsx';
import { EditOperatorDialog, InviteDialog, LinkDialog } from './operator-dialogs.tsx';

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
  const [offered, setOffered] = useState<CreatedLink>();
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
            <OperatorRow key={operator.id} operator={operator} canChange={canChange} onCreated={setOffered} />
          ))}
        </RecordTable>
      )}
      {canChange && (
        <InvitationList invitations={invitations.data} error={invitations.error} canChange={canChange} />
      )}
      {isInviting && <InviteDialog onClose={() => setInviting(false)} onCreated={setOffered} />}
      {offered !== undefined && <LinkDialog offered={offered} onClose={() => setOffered(undefined)} />}
    </Page>
  );
}

/** One person. */
function OperatorRow({
  operator,
  canChange,
  onCreated,
}: {
  operator: OperatorRecord;
  canChange: boolean;
  onCreated: (link: CreatedLink) => void;
}) {
  const self = useOperator();
  const remove = useRemoveOperator();
  const createResetLink = useCreateResetLink();
  const [isEditing, setEditing] = useState(false);
  const { id, name, email, role, createdAt, lastSeenAt } = operator;
  return (
    <RecordRow>
      <RecordHead>
        <span className="flex flex-wrap items-center gap-x-2">
          <span className="min-w-0 font-medium">{name}</span>
          {id === self.id && <Badge>you</Badge>}
        </span>
        <span className="block text-xs break-all text-ink-3">{email}</span>
      </RecordHead>
      <RecordCell label="Role">{ROLE_NAMES[role]}</RecordCell>
      <RecordCell label="Protected" className="lg:whitespace-nowrap">
        {protectedText(operator)}
      </RecordCell>
      <RecordCell label="Last seen" className="lg:whitespace-nowrap">
        {lastSeenAt === undefined ? <span className="text-ink-3">never</span> : <TimeAgo at={lastSeenAt} />}
      </RecordCell>
      <RecordCell label="Joined" className="lg:whitespace-nowrap">
        {createdAt !== undefined && <TimeAgo at={createdAt} />}
      </RecordCell>
      <RecordActions>
        {canChange && (
          <>
            <Button aria-label={`Edit ${name}`} onClick={() => setEditing(true)}>
              Edit
            </Button>
            <Button
              aria-label={`Password link for ${name}`}
              onClick={() => void createResetLink(operator).then((link) => link && onCreated(link))}
            >
              Password link
            </Button>
            <Button aria-label={`Remove ${name}`} onClick={() => void remove(operator)}>
              Remove
            </Button>
          </>
        )}
        {isEditing && <EditOperatorDialog operator={operator} onClose={() => setEditing(false)} />}
      </RecordActions>
    </RecordRow>
  );
}

/** Asks, and removes a person. */
function useRemoveOperator(): (operator: OperatorRecord) => Promise<void> {
  const confirm = useConfirm();
  const perform = useAction();
  const self = useOperator();
  const isOnlyAdmin = useIsOnlyAdmin();
  return async (operator) => {
    const { id, name, email } = operator;
    if (isOnlyAdmin(operator)) {
      toast({ kind: 'problem', title: `${name} was not removed`, detail: onlyAdminText(operator) });
      return;
    }
    const isSelf = id === self.id;
    const isConfirmed = await confirm({
      title: isSelf ? 'Remove yourself?' : `Remove ${name}?`,
      body: (
        <p>
          {isSelf
            ? 'You are signed out everywhere at once and cannot'
            : `${email} is signed out everywhere at once and cannot`}{' '}
          sign in any more. What was done stays in the audit log; access tokens go on working; schedules made
          by {isSelf ? 'you' : 'this person'} will fail.
        </p>
      ),
      action: isSelf ? 'Remove myself' : `Remove ${name}`,
      isDangerous: true,
    });
    if (!isConfirmed) return;
    const isDone = await perform({
      run: () => removeOperator(id),
      done: `${name} is removed`,
      failed: `${name} was not removed`,
      stale: [queryKeys.operators, queryKeys.invitations],
    });
    if (isDone && isSelf) leaveAtOnce('/sign-in');
  };
}

/** Asks, and makes a link for a new password; `undefined` when there is none. */
function useCreateResetLink(): (operator: OperatorRecord) => Promise<CreatedLink | undefined> {
  const confirm = useConfirm();
  const perform = useAction();
  return async ({ id, name, email }) => {
    const isConfirmed = await confirm({
      title: `A new password for ${name}?`,
      body: (
        <p>
          You get a link for {email} that works once, within a day. Until it is used, the present password
          goes on working; then every session of theirs ends.
        </p>
      ),
      action: 'Make the link',
    });
    if (!isConfirmed) return undefined;
    let link: CreatedLink | undefined;
    await perform({
      run: async () => {
        link = await createResetLink(id);
      },
      done: `The link for ${name} is made`,
      failed: `No link was made for ${name}`,
      stale: [queryKeys.invitations],
    });
    return link;
  };
}
