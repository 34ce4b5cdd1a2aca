import { useRef } from 'react';
import { useOperator } from '../../api/session.ts';
import { Dialog } from '../../components/dialog.tsx';
import { leaveAtOnce } from '../../shell/leave-guard.ts';
import { SignInForm } from './sign-in-form.tsx';

/** Asks for the password over the screen, which stays as it is: with what was typed there. */
export function SessionEndedDialog() {
  const { email } = useOperator();
  const content = useRef<HTMLDivElement>(null);
  /** Without a session there is nothing to go back to. A second Escape closes it all the same: it is opened again. */
  function stay(): void {
    const dialog = content.current?.closest('dialog');
    if (dialog?.open === false) dialog.showModal();
  }
  function leave(): void {
    leaveAtOnce(`/sign-in?from=${encodeURIComponent(location.pathname + location.search)}`);
  }
  return (
    <Dialog title="Sign in again" frame="bare" className="max-w-sm" onClose={stay}>
      <div ref={content} className="p-6">
        <p className="text-lg font-semibold" aria-hidden>
          Sign in again
        </p>
        <p className="mt-1 mb-4 text-ink-2">
          Your session has ended. Sign in to go on; what you typed is kept.
        </p>
        <SignInForm knownEmail={email} onLeave={leave} />
      </div>
    </Dialog>
  );
}
