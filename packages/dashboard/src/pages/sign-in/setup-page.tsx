import { useLocation } from 'wouter';
import { messageOf } from '../../api/api-error.ts';
import { useEnter } from '../../api/session.ts';
import { Door } from './door.tsx';
import { useLinkSecret } from './link-secret.ts';
import { type NewAccount, NewAccountForm } from './new-account-form.tsx';
import { SetupNeeded } from './setup-needed.tsx';

/** Makes the first administrator, through the link that the server printed. */
export function SetupPage() {
  const token = useLinkSecret();
  const [, navigate] = useLocation();
  const enter = useEnter<NewAccount & { token: string }>('setup');
  if (token === '') return <SetupNeeded />;
  return (
    <Door title="Set up Halyard" intro="You are the first one here: this makes the administrator's account.">
      <NewAccountForm
        fixed={{}}
        asksForName
        action={enter.isPending ? 'Setting up …' : 'Create the account'}
        error={enter.error ? messageOf(enter.error) : undefined}
        isPending={enter.isPending}
        onSubmit={(account) =>
          enter.mutate({ ...account, token }, { onSuccess: () => navigate('/', { replace: true }) })
        }
      />
    </Door>
  );
}
