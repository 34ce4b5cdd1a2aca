import { Redirect, useLocation } from 'wouter';
import { isRefusal } from '../../api/api-error.ts';
import { useInvitation, useSession, useStartSession } from '../../api/session.ts';
import { SkeletonRows } from '../../components/screen-states.tsx';
import { AuthLayout, SetupNeeded } from './auth-layout.tsx';
import { messages } from './messages.tsx';
import { type NewAccount, NewAccountForm } from './new-account-form.tsx';
import { InvalidLink, useLinkSecret } from './one-time-link.tsx';

/** Creates the first administrator, through the link that the server printed. */
export function SetupPage() {
  const token = useLinkSecret();
  const [, navigate] = useLocation();
  const { data: session } = useSession();
  const { data: facts, error, refetch } = useInvitation(token);
  const start = useStartSession<NewAccount & { token: string }>('setup');
  // There is nothing to set up once someone can sign in.
  if (session?.setupNeeded === false && facts === undefined && (token === '' || error !== null)) {
    return <Redirect to="/" replace />;
  }
  if (token === '') return session === undefined ? <SkeletonRows rows={3} /> : <SetupNeeded />;
  if (error !== null) {
    if (isRefusal(error, 'invitation_invalid')) return <SetupNeeded isLinkExpired />;
    return <InvalidLink error={error} onRetry={() => void refetch()} />;
  }
  if (facts === undefined) return <SkeletonRows rows={3} />;

  return (
    <AuthLayout title={messages.setupTitle} intro={messages.setupIntro}>
      <NewAccountForm
        asksForName
        action={messages.createAccount}
        submit={async (account) => {
          await start.mutateAsync({ ...account, token });
          navigate('/', { replace: true });
        }}
      />
    </AuthLayout>
  );
}
