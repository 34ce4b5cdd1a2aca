import { LifeEnd } from './life-badge.tsx';
import { RecordCell } from './record-table.tsx';
import { TimeAgo } from './time-ago.tsx';

/** When a key or token was last used, was made, and ends: three cells of its row. */
export function LifeCells({
  record: { lastUsedAt, createdAt, expiresAt, revokedAt },
}: {
  record: {
    readonly lastUsedAt?: string;
    readonly createdAt: string;
    readonly expiresAt?: string;
    readonly revokedAt?: string;
  };
}) {
  return (
    <>
      <RecordCell label="Last used" className="lg:whitespace-nowrap">
        {lastUsedAt === undefined ? <span className="text-ink-3">never</span> : <TimeAgo at={lastUsedAt} />}
      </RecordCell>
      <RecordCell label="Created" className="lg:whitespace-nowrap">
        <TimeAgo at={createdAt} />
      </RecordCell>
      <RecordCell label="Expires" className="lg:whitespace-nowrap">
        <LifeEnd expiresAt={expiresAt} revokedAt={revokedAt} />
      </RecordCell>
    </>
  );
}
