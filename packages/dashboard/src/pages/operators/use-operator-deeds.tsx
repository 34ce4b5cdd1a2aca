import {
  type OfferedLink,
  offerReset,
  onlyAdminText,
  removeOperator,
  useIsOnlyAdmin,
} from '../../api/operators.ts';
import { queryKeys } from '../../api/query-keys.ts';
import { useOperator } from '../../api/session.ts';
import type { OperatorRecord } from '../../api/types.ts';
import { useDeed } from '../../changes/use-deed.tsx';
import { useConfirm } from '../../components/confirm.tsx';
import { toast } from '../../components/toasts.tsx';
import { leaveAtOnce } from '../../shell/leave-guard.ts';

/** Asks, and removes a person. */
export function useRemoveOperator(): (operator: OperatorRecord) => Promise<void> {
  const confirm = useConfirm();
  const deed = useDeed();
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
    const isDone = await deed({
      run: () => removeOperator(id),
      done: `${name} is removed`,
      failed: `${name} was not removed`,
      stale: [queryKeys.operators, queryKeys.invitations],
    });
    if (isDone && isSelf) leaveAtOnce('/sign-in');
  };
}

/** Asks, and makes a link for a new password; `undefined` when there is none. */
export function useOfferReset(): (operator: OperatorRecord) => Promise<OfferedLink | undefined> {
  const confirm = useConfirm();
  const deed = useDeed();
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
    let link: OfferedLink | undefined;
    await deed({
      run: async () => {
        link = await offerReset(id);
      },
      done: `The link for ${name} is made`,
      failed: `No link was made for ${name}`,
      stale: [queryKeys.invitations],
    });
    return link;
  };
}
