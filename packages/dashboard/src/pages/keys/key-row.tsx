import type { KeyRecord } from '../../api/keys.ts';
import type { ProjectRecord } from '../../api/types.ts';
import { Button } from '../../components/button.tsx';
import { LifeBadge } from '../../components/life-badge.tsx';
import { LifeCells } from '../../components/life-cells.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow } from '../../components/record-table.tsx';
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
  const { name, lastFour, status } = record;
  return (
    <RecordRow isOver={status !== 'active'}>
      <RecordHead>
        <span className="block font-medium">{name}</span>
        <span className="font-mono text-xs text-ink-3">proj_live_…{lastFour}</span>
      </RecordHead>
      <RecordCell label="Status">
        <LifeBadge status={status} expiresAt={record.expiresAt} />
      </RecordCell>
      <RecordCell label="Environments">
        <KeyEnvironments project={project} names={record.environments} />
      </RecordCell>
      <RecordCell label="Open streams">{streams ?? <span className="text-ink-3">…</span>}</RecordCell>
      <LifeCells record={record} />
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
