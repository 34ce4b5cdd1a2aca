import ArrowDown from 'lucide-react/icons/arrow-down';
import ArrowUp from 'lucide-react/icons/arrow-up';
import { useState } from 'react';
import type { EnvironmentRecord } from '../../api/types.ts';
import { Badge } from '../../components/badge.tsx';
import { Button, IconButton } from '../../components/button.tsx';
import { EnvironmentBadge } from '../../components/environment-badge.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow } from '../../components/record-table.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { EditEnvironmentDialog } from './edit-environment-dialog.tsx';
import { useDeleteEnvironment } from './use-delete-environment.tsx';

/** One environment. */
export function EnvironmentRow({
  project,
  environment,
  streams,
  flags,
  canChange,
  moves: { up, down },
}: {
  project: string;
  environment: EnvironmentRecord;
  /** Both `undefined` while they are not known. */
  streams: number | undefined;
  flags: number | undefined;
  canChange: boolean;
  moves: { readonly up: (() => void) | undefined; readonly down: (() => void) | undefined };
}) {
  const [isEditing, setEditing] = useState(false);
  const remove = useDeleteEnvironment(project);
  const { name, revision, createdAt } = environment;
  return (
    <RecordRow>
      <RecordHead>
        <EnvironmentBadge environment={environment} className="max-w-full font-medium" />
      </RecordHead>
      <RecordCell label="Protection">
        {environment.protected ? (
          <Badge kind="warn">protected</Badge>
        ) : (
          <span className="text-ink-3">none</span>
        )}
      </RecordCell>
      {flags !== undefined && <RecordCell label="Flags">{flags}</RecordCell>}
      <RecordCell label="Revision">{revision}</RecordCell>
      <RecordCell label="Open streams">{streams ?? <span className="text-ink-3">…</span>}</RecordCell>
      <RecordCell label="Created" className="lg:whitespace-nowrap">
        <TimeAgo at={createdAt} />
      </RecordCell>
      <RecordActions>
        {canChange && (
          <>
            <IconButton label={`Move ${name} up`} disabled={up === undefined} onClick={up}>
              <ArrowUp size={15} aria-hidden />
            </IconButton>
            <IconButton label={`Move ${name} down`} disabled={down === undefined} onClick={down}>
              <ArrowDown size={15} aria-hidden />
            </IconButton>
            <Button aria-label={`Edit ${name}`} onClick={() => setEditing(true)}>
              Edit
            </Button>
            <Button aria-label={`Delete ${name}`} onClick={() => void remove(environment, { flags })}>
              Delete
            </Button>
          </>
        )}
        {isEditing && (
          <EditEnvironmentDialog
            project={project}
            environment={environment}
            onClose={() => setEditing(false)}
          />
        )}
      </RecordActions>
    </RecordRow>
  );
}
