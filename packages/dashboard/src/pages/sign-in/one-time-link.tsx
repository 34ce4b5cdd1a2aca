import { useEffect, useState } from 'react';
import { isRefusal } from '../../api/api-error.ts';
import { Button } from '../../components/button.tsx';
import { ErrorText } from '../../components/screen-states.tsx';
import { AuthLayout } from './auth-layout.tsx';
import { messages } from './messages.tsx';

/**
 * The secret of a one-time link: the part after the `#`, which is never sent to a server. It is removed from the address
 * bar and the browser history immediately. Empty if the address has none.
 */
export function useLinkSecret(): string {
  const [secret] = useState(takeSecret);
  useEffect(() => {
    addEventListener('hashchange', reloadForLink);
    return () => removeEventListener('hashchange', reloadForLink);
  }, []);
  return secret;
}

/** A second link opened in the same tab differs only after the `#`, which does not load the page by itself. */
function reloadForLink(): void {
  if (location.hash.length > 1) location.reload();
}

let taken = '';

/** Keeps the secret for the page's lifetime, because a second call finds the address clean. */
function takeSecret(): string {
  const found = location.hash.slice(1);
  if (found !== '') {
    taken = found;
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return taken;
}

/** A link that is not valid (without an error: it was not copied completely), or that could not be checked. */
export function InvalidLink({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  if (error === null || isRefusal(error, 'invitation_invalid') || isRefusal(error, 'invalid_argument')) {
    return (
      <AuthLayout title={messages.linkInvalidTitle}>
        <p className="text-ink-2">{messages.linkInvalid(error === null)}</p>
        <p className="mt-3">
          <a href="/sign-in" className="text-accent underline">
            {messages.signIn}
          </a>
          {messages.haveAccount}
        </p>
      </AuthLayout>
    );
  }
  return (
    <AuthLayout title={messages.linkUnavailableTitle}>
      <div className="text-ink-2">
        <ErrorText error={error} />
      </div>
      <Button className="mt-4" onClick={onRetry}>
        {messages.retry}
      </Button>
    </AuthLayout>
  );
}
