import { useLocation } from 'wouter';
import { type InvitationFacts, useInvitation, useSession, useStartSession } from '../../api/session.ts';
import type { SessionRecord } from '../../api/types.ts';
import { ROLE_NAMES } from '../../components/permission-fields.tsx';
import { SkeletonRows } from '../../components/screen-states.tsx';
import { AuthLayout } from './auth-layout.tsx';
import { NewAccountForm } from './new-account-form.tsx';
import { InvalidLink, useLinkSecret } from './one-time-link.tsx';

/** Comes in through the link of an invitation, or gives a new password through one. */
export function InvitationPage() {
  const token = useLinkSecret();
  const [, navigate] = useLocation();
  const { data: session } = useSession();
  const { data: facts, error, refetch } = useInvitation(token);
  const enter = useStartSession<{ token: string; name?: string; password: string }>('invitations/accept');
  if (token === '' || (error !== null && facts === undefined)) {
    return <InvalidLink error={error} onRetry={() => void refetch()} />;
  }
  if (facts === undefined) return <SkeletonRows rows={3} />;
  const isReset = facts.kind === 'reset';
  return (
    <AuthLayout title={isReset ? 'Choose a new password' : 'Join Halyard'} intro={introOf(facts, session)}>
      <NewAccountForm
        fixed={{ email: facts.email }}
        asksForName={!isReset}
        action={isReset ? 'Set the password' : 'Create the account'}
        error={enter.error}
        isPending={enter.isPending}
        onSubmit={({ name, password }) =>
          enter.mutate(
            { token, password, ...(isReset ? {} : { name }) },
            { onSuccess: () => navigate('/', { replace: true }) },
          )
        }
      />
    </AuthLayout>
  );
}

/** What happens when the link is used; whoever tries it with their own browser signed in learns that as well. */
function introOf(
  { kind, email, role = 'viewer' }: InvitationFacts,
  session: SessionRecord | undefined,
): string {
  const what =
    kind === 'reset'
      ? 'With the new password, you are signed out in every other browser.'
      : `You are invited with the role ${ROLE_NAMES[role].toLowerCase()}.`;
  const other = session?.operator?.email;
  return other === undefined || other === email
    ? what
    : `${what} This browser is signed in as ${other}, and will be ${email}.`;
}
