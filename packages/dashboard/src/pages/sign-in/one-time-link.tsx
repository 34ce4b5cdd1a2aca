import { useEffect, useState } from 'react';
import { isRefusal } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { ErrorText } from '../../components/screen-states.tsx';
import { AuthLayout } from './auth-layout.tsx';

/**
 * The secret of a one-time link, which stands after the `#` that no server sees. Taken out of the address bar and of
 * the history at once. Empty when there is none.
 */
export function useLinkSecret(): string {
  const [secret] = useState(takeSecret);
  useEffect(() => {
    addEventListener('hashchange', openAnew);
    return () => removeEventListener('hashchange', openAnew);
  }, []);
  return secret;
}

/** Another link in the same tab differs after the `#` only, which loads nothing by itself. */
function openAnew(): void {
  if (location.hash.length > 1) location.reload();
}

let taken = '';

/** Taken once per page: a second reading finds the address already clean. */
function takeSecret(): string {
  const found = location.hash.slice(1);
  if (found !== '') {
    taken = found;
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return taken;
}

/** A link that opens nothing, or whose server does not answer at the moment. Without an error it was not copied whole. */
export function InvalidLink({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (error === null || isRefusal(error, 'invitation_invalid') || isRefusal(error, 'invalid_argument')) {
    return (
      <AuthLayout title="This link does not work">
        <p className="text-ink-2">
          It may have been used, withdrawn or too old{error === null ? ', or not copied whole' : ''}. Ask an
          administrator for a new one.
        </p>
        <p className="mt-3">
          <a href="/sign-in" className="text-accent underline">
            Sign in
          </a>{' '}
          if you have an account.
        </p>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title="This link could not be looked at">
      <div className="text-ink-2">
        <ErrorText error={error} />
      </div>
      <Button className="mt-4" onClick={onRetry}>
        Try again
      </Button>
    </AuthLayout>
  );
}
