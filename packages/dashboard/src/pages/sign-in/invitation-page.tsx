import { useLocation } from 'wouter';
import { useInvitation, useSession, useStartSession } from '../../api/session.ts';
import type { InvitationFacts, SessionRecord } from '../../api/types.ts';
import { ROLE_NAMES } from '../../components/permission-fields.tsx';
import { SkeletonRows } from '../../components/screen-states.tsx';
import { AuthLayout } from './auth-layout.tsx';
import { messages } from './messages.tsx';
import { NewAccountForm } from './new-account-form.tsx';
import { InvalidLink, useLinkSecret } from './one-time-link.tsx';

/** Accepts an invitation, or sets a new password through a reset link. */
export function InvitationPage() {
  const token = useLinkSecret();
  const [, navigate] = useLocation();
  const { data: session } = useSession();
  const { data: facts, error, refetch } = useInvitation(token);
  const start = useStartSession<{ token: string; name?: string; password: string }>('invitations/accept');
  if (token === '' || (error !== null && facts === undefined)) {
    return <InvalidLink error={error} onRetry={() => void refetch()} />;
  }
  if (facts === undefined) return <SkeletonRows rows={3} />;
  const isReset = facts.kind === 'reset';

  return (
    <AuthLayout title={isReset ? messages.resetTitle : messages.joinTitle} intro={introOf(facts, session)}>
      <NewAccountForm
        knownEmail={facts.email}
        asksForName={!isReset}
        action={isReset ? messages.setPassword : messages.createAccount}
        submit={async ({ name, password }) => {
          await start.mutateAsync({ token, password, ...(isReset ? {} : { name }) });
          navigate('/', { replace: true });
        }}
      />
    </AuthLayout>
  );
}

/** Explains what the link does, and that it replaces another person's session in this browser. */
function introOf(
  { kind, email, role, projects = [] }: InvitationFacts,
  session: SessionRecord | undefined,
): string {
  const effect =
    kind === 'reset'
      ? messages.resetIntro
      : messages.invited(
          role === 'none' ? undefined : ROLE_NAMES[role],
          projects.map((each) => [ROLE_NAMES[each.role], each.project] as const),
        );
  const other = session?.operator?.email;
  return other === undefined || other === email
    ? effect
    : `${effect} ${messages.signedInAsOther(other, email)}`;
}
