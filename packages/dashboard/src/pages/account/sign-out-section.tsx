import { useSession, useSignOut } from '../../api/session.ts';
import { RefusalNote } from '../../changes/refusal-note.tsx';
import { Button } from '../../components/button.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';

/** The way out of this browser, and how to end the others. */
export function SignOutSection() {
  const { data: session } = useSession();
  const signOut = useSignOut();
  return (
    <>
      <p className="text-ink-2">
        {session?.expiresAt !== undefined && (
          <>
            This session ends <TimeAgo at={session.expiresAt} /> if you do nothing.{' '}
          </>
        )}
        To sign out in every other browser, change your password.
      </p>
      {signOut.error !== null && (
        <div className="mt-3">
          <RefusalNote error={signOut.error} />
        </div>
      )}
      <Button className="mt-3" disabled={signOut.isPending} onClick={() => signOut.mutate()}>
        Sign out here
      </Button>
    </>
  );
}
