import UserPlus from 'lucide-react/icons/user-plus';
import { useState } from 'react';
import { createResetLink, removeOperator, useIsOnlyAdmin, useOperators } from '../../api/operators.ts';
import { queryKeys } from '../../api/query-cache.ts';
import { useCan, useCanEverywhere, useOperator, useSso } from '../../api/session.ts';
import type { CreatedLink, OperatorRecord } from '../../api/types.ts';
import { leaveAtOnce } from '../../browser/leave-guard.ts';
import { useConfirmedAction } from '../../components/actions.tsx';
import { Badge } from '../../components/badges.tsx';
import { Button } from '../../components/button.tsx';
import { TimeCell } from '../../components/lifetime.tsx';
import { ListScreen } from '../../components/list-screen.tsx';
import { MenuItem, OverflowMenu } from '../../components/menu.tsx';
import { protectedText, RightsText, ROLE_NAMES } from '../../components/permission-fields.tsx';
import { PersonHead, useCanInvite } from '../../components/person-head.tsx';
import { sortItems, useSort } from '../../components/sort.ts';
import { RecordActions, RecordCell, RecordRow, RecordTable } from '../../components/tables.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { toast } from '../../components/toasts.tsx';
import { HoldingsDialog, HoldingsList } from './holdings.tsx';
import { InvitationList } from './invitation-list.tsx';
import { messages } from './messages.tsx';
import { EditOperatorDialog, InviteDialog, LinkDialog } from './operator-dialogs.tsx';
import { PeopleFilter, useFoundPeople } from './people-filter.tsx';

/** The screen "People": those who sign in, and the links that let others in. */
export function OperatorsPage() {
  // Only in this component's state: the link is shown once.
  const [created, setCreated] = useState<CreatedLink>();
  return (
    <ListScreen
      texts={messages}
      command="operator.new"
      reading={useOperators()}
      rows={3}
      createIcon={UserPlus}
      canCreate={useCanInvite()}
      dialog={(stop) => <InviteDialog onClose={stop} onCreated={setCreated} />}
      below={
        <>
          <InvitationList />
          {created !== undefined && <LinkDialog created={created} onClose={() => setCreated(undefined)} />}
        </>
      }
    >
      {(people) => <PeopleTable people={people} onCreated={setCreated} />}
    </ListScreen>
  );
}

const [, roleColumn, protectedColumn, lastSeenColumn, joinedColumn] = messages.columns;

/** The people that the filter above finds. */
function PeopleTable({
  people,
  onCreated,
}: {
  people: readonly OperatorRecord[];
  onCreated: (link: CreatedLink) => void;
}) {
  const found = useFoundPeople(people);
  const sort = useSort();
  const canManage = useCanEverywhere('admin');

  return (
    <>
      <PeopleFilter shown={found.length} total={people.length} />
      <RecordTable
        label={messages.list}
        // Only administrators of everything see when others were here.
        columns={messages.columns.filter((column) => canManage || column !== lastSeenColumn)}
        sort={sort}
      >
        {sortItems(found, sort, memberOf).map((operator) => (
          <OperatorRow key={operator.id} operator={operator} onCreated={onCreated} />
        ))}
      </RecordTable>
    </>
  );
}

function memberOf(operator: OperatorRecord, by: string): string | undefined {
  return { ...operator, role: ROLE_NAMES[operator.role] }[by as 'name' | 'role' | 'createdAt' | 'lastSeenAt'];
}

interface OperatorProps {
  readonly operator: OperatorRecord;
  readonly onCreated: (link: CreatedLink) => void;
}

function OperatorRow({ operator, onCreated }: OperatorProps) {
  const canManage = useCanEverywhere('admin');
  return (
    <RecordRow>
      <PersonHead person={operator}>{operator.signIn === 'sso' && <Badge>{messages.sso}</Badge>}</PersonHead>
      <RecordCell label={roleColumn.label}>
        <RightsText rights={operator} />
      </RecordCell>
      <RecordCell label={protectedColumn.label} className="lg:whitespace-nowrap">
        {protectedText(operator)}
      </RecordCell>
      {canManage && <TimeCell label={lastSeenColumn.label} at={operator.lastSeenAt} />}
      <RecordCell label={joinedColumn.label} className="lg:whitespace-nowrap">
        {operator.createdAt !== undefined && <TimeAgo at={operator.createdAt} />}
      </RecordCell>
      <RecordActions>
        <OperatorActions operator={operator} onCreated={onCreated} />
      </RecordActions>
    </RecordRow>
  );
}

function OperatorActions({ operator, onCreated }: OperatorProps) {
  const canChange = useCan('admin');
  // Whether the person may also reset passwords and remove people.
  const canManage = useCanEverywhere('admin');
  const { name, signIn } = operator;
  const remove = useRemoveOperator();
  const createResetLink = useCreateResetLink();
  const [isEditing, setEditing] = useState(false);
  const [isShown, setShown] = useState(false);
  const sso = useSso();
  // Without the identity provider, a password is how its people get back in.
  const hasPassword = sso === undefined || (signIn === 'password' && !sso.only);

  async function resetPassword(): Promise<void> {
    const link = await createResetLink(operator);
    if (link !== undefined) onCreated(link);
  }

  return (
    <>
      {canChange && (
        <Button aria-label={messages.editPerson(name)} onClick={() => setEditing(true)}>
          {messages.edit}
        </Button>
      )}
      {canChange && canManage && (
        <OverflowMenu label={messages.more(name)}>
          {hasPassword && <MenuItem label={messages.resetPassword} onSelect={() => void resetPassword()} />}
          <MenuItem label={messages.holdings} onSelect={() => setShown(true)} />
          <MenuItem isDangerous label={messages.remove} onSelect={() => void remove(operator)} />
        </OverflowMenu>
      )}
      {isShown && <HoldingsDialog operator={operator} onClose={() => setShown(false)} />}
      {isEditing && <EditOperatorDialog operator={operator} onClose={() => setEditing(false)} />}
    </>
  );
}

/** Asks, then removes a person. */
function useRemoveOperator(): (operator: OperatorRecord) => Promise<void> {
  const perform = useConfirmedAction();
  const self = useOperator();
  const isOnlyAdmin = useIsOnlyAdmin();

  return async (operator) => {
    const { id, name, email } = operator;
    const isSelf = id === self.id;
    const texts = messages.removing(name, email, isSelf);
    if (isOnlyAdmin(operator)) {
      toast({ kind: 'problem', title: texts.failed, detail: messages.onlyAdmin(name) });
      return;
    }

    const isRemoved = await perform({
      ...texts,
      body: (
        <div className="grid gap-4">
          {texts.body}
          <HoldingsList id={id} />
        </div>
      ),
      isDangerous: true,
      run: () => removeOperator(id),
      stale: [queryKeys.operators, queryKeys.invitations],
    });
    if (isRemoved && isSelf) leaveAtOnce('/sign-in');
  };
}

/** Asks, then creates a password reset link; resolves with `undefined` without one. */
function useCreateResetLink(): (operator: OperatorRecord) => Promise<CreatedLink | undefined> {
  const perform = useConfirmedAction();
  return async ({ id, name, email }) => {
    let link: CreatedLink | undefined;
    const isDone = await perform({
      ...messages.resetting(name, email),
      run: async () => {
        link = await createResetLink(id);
      },
      stale: [queryKeys.invitations],
    });
    if (isDone && link === undefined) toast({ kind: 'problem', title: messages.linkLost });
    return link;
  };
}
