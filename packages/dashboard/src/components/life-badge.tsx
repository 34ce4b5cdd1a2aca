import { Badge } from './badge.tsx';
import { TimeAgo, timeAgo, useBeat } from './time-ago.tsx';

/** How long before its end a thing is marked: time enough to put another in its place. */
const SOON_MS = 14 * 86_400_000;

/** Whether a key or token still opens something. */
export type LifeStatus = 'active' | 'expired' | 'revoked';

/** The status of a key or token in a word; one that ends soon says when. */
export function LifeBadge({ status, expiresAt }: { status: LifeStatus; expiresAt: string | undefined }) {
  useBeat();
  if (status !== 'active') return <Badge kind="over">{status}</Badge>;
  const left = expiresAt === undefined ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - Date.now();
  // Nothing is sent when one runs out while it is on the screen.
  if (left <= 0) return <Badge kind="over">expired</Badge>;
  if (left > SOON_MS) return <Badge kind="good">active</Badge>;
  return <Badge kind="warn">ends {timeAgo(Date.now() + left, Date.now())}</Badge>;
}

/** When a key or token ends or has ended. */
export function LifeEnd({
  expiresAt,
  revokedAt,
}: {
  expiresAt?: string | undefined;
  revokedAt?: string | undefined;
}) {
  if (revokedAt !== undefined) {
    return (
      <>
        revoked <TimeAgo at={revokedAt} />
      </>
    );
  }
  return expiresAt === undefined ? <span className="text-ink-3">never</span> : <TimeAgo at={expiresAt} />;
}
