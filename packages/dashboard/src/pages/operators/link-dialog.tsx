import type { OfferedLink } from '../../api/operators.ts';
import { SecretDialog } from '../../components/secret-dialog.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';

/** Shows a one-time link once. */
export function LinkDialog({ offered, onClose }: { offered: OfferedLink; onClose: () => void }) {
  const { kind, email, link, expiresAt } = offered;
  return (
    <SecretDialog
      title={kind === 'reset' ? 'Link for a new password' : 'Invitation link'}
      what="link"
      secret={link}
      onClose={onClose}
    >
      <p className="mt-3 text-ink-2">
        Hand it to <strong className="font-medium break-all text-ink">{email}</strong> in a way that nobody
        else reads: whoever opens it chooses the password. It works once and ends <TimeAgo at={expiresAt} />.
      </p>
    </SecretDialog>
  );
}
