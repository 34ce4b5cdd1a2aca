import { Redirect, useLocation } from 'wouter';
import { isRefusal } from '../../api/api-error.ts';
import { useInvitation, useSession, useStartSession } from '../../api/session.ts';
import { SkeletonRows } from '../../components/screen-states.tsx';
import { AuthLayout, SetupNeeded } from './auth-layout.tsx';
import { type NewAccount, NewAccountForm } from './new-account-form.tsx';
import { InvalidLink, useLinkSecret } from './one-time-link.tsx';

/** Makes the first administrator, through the link that the server printed. */
export function SetupPage() {
  const token = useLinkSecret();
  const [, navigate] = useLocation();
  const { data: session } = useSession();
  const { data: facts, error, refetch } = useInvitation(token);
  const enter = useStartSession<NewAccount & { token: string }>('setup');
  // Also after coming in: whoever is signed in has nothing to set up.
  if (session?.setupNeeded === false && facts === undefined && (token === '' || error !== null)) {
    return <Redirect to="/" replace />;
  }
  if (token === '') return session === undefined ? <SkeletonRows rows={3} /> : <SetupNeeded />;
  if (error !== null) {
    if (isRefusal(error, 'invitation_invalid')) return <SetupNeeded isLinkDead />;
    return <InvalidLink error={error} onRetry={() => void refetch()} />;
  }
  if (facts === undefined) return <SkeletonRows rows={3} />;
  return (
    <AuthLayout
      title="Set up Halyard"
      intro="You are the first one here: this makes the administrator's account."
    >
      <NewAccountForm
        fixed={{}}
        asksForName
        action={enter.isPending ? 'Setting up …' : 'Create the account'}
        error={enter.error}
        isPending={enter.isPending}
        onSubmit={(account) =>
          enter.mutate({ ...account, token }, { onSuccess: () => navigate('/', { replace: true }) })
        }
      />
    </AuthLayout>
  );
}
