import { useLocation } from 'wouter';
import { messageOf } from '../../api/api-error.ts';
import { useEnter, useInvitation } from '../../api/session.ts';
import { SkeletonRows } from '../../components/skeleton.tsx';
import { Door } from './door.tsx';
import { useLinkSecret } from './link-secret.ts';
import { NewAccountForm } from './new-account-form.tsx';

/** Comes in through the link of an invitation, or gives a new password through one. */
export function InvitationPage() {
  const token = useLinkSecret();
  const [, navigate] = useLocation();
  const { data: facts, error } = useInvitation(token);
  const enter = useEnter<{ token: string; name?: string; password: string }>('invitations/accept');
  if (token === '' || error !== null) {
    return (
      <Door title="This link does not work">
        <p className="text-ink-2">
          It may have been used, withdrawn or too old{token === '' ? ', or not copied whole' : ''}. Ask an
          administrator for a new one.
        </p>
      </Door>
    );
  }
  if (facts === undefined) return <SkeletonRows rows={3} />;
  const isReset = facts.kind === 'reset';
  return (
    <Door
      title={isReset ? 'Choose a new password' : 'Join Halyard'}
      intro={
        isReset ? 'You are signed out everywhere else.' : `You are invited as ${facts.role ?? 'viewer'}.`
      }
    >
      <NewAccountForm
        fixed={{ email: facts.email }}
        asksForName={!isReset}
        action={isReset ? 'Set the password' : 'Create the account'}
        error={enter.error ? messageOf(enter.error) : undefined}
        isPending={enter.isPending}
        onSubmit={({ name, password }) =>
          enter.mutate(
            { token, password, ...(isReset ? {} : { name }) },
            { onSuccess: () => navigate('/', { replace: true }) },
          )
        }
      />
    </Door>
  );
}
