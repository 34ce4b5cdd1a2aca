import type { KeyRecord } from '../../api/keys.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { LifeBadge, LifeEnd } from '../../components/life-badge.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow } from '../../components/record-table.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { KeyEnvironments } from './key-environments.tsx';
import { useRevokeKey } from './use-revoke-key.tsx';

/** One key. */
export function KeyRow({
  project,
  record,
  streams,
  canChange,
}: {
  project: ProjectRecord;
  record: KeyRecord;
  /** Open at the moment; `undefined` while it is not known. */
  streams: number | undefined;
  canChange: boolean;
}) {
  const revoke = useRevokeKey(project.name);
  const { name, lastFour, status, createdAt, lastUsedAt } = record;
  return (
    <RecordRow isOver={status !== 'active'}>
      <RecordHead>
        <span className="block font-medium break-words">{name}</span>
        <span className="font-mono text-xs text-ink-3">proj_live_…{lastFour}</span>
      </RecordHead>
      <RecordCell label="Status">
        <LifeBadge status={status} expiresAt={record.expiresAt} />
      </RecordCell>
      <RecordCell label="Environments">
        <KeyEnvironments project={project} names={record.environments} />
      </RecordCell>
      <RecordCell label="Open streams">{streams ?? <span className="text-ink-3">…</span>}</RecordCell>
      <RecordCell label="Last used" className="lg:whitespace-nowrap">
        {lastUsedAt === undefined ? <span className="text-ink-3">never</span> : <TimeAgo at={lastUsedAt} />}
      </RecordCell>
      <RecordCell label="Created" className="lg:whitespace-nowrap">
        <TimeAgo at={createdAt} />
      </RecordCell>
      <RecordCell label="Expires" className="lg:whitespace-nowrap">
        <LifeEnd {...record} />
      </RecordCell>
      <RecordActions>
        {canChange && status !== 'revoked' && (
          <Button aria-label={`Revoke ${name}`} onClick={() => void revoke(record)}>
            Revoke
          </Button>
        )}
      </RecordActions>
    </RecordRow>
  );
}
