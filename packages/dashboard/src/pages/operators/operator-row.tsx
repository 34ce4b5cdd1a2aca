import { useState } from 'react';
import type { OfferedLink } from '../../api/operators.ts';
import { useOperator } from '../../api/session.ts';
import type { OperatorRecord } from '../../api/types.ts';
import { Badge } from '../../components/badge.tsx';
import { Button } from '../../components/button.tsx';
import { protectedText, ROLE_NAMES } from '../../components/permission-fields.tsx';
import { RecordActions, RecordCell, RecordHead, RecordRow } from '../../components/record-table.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { EditOperatorDialog } from './edit-operator-dialog.tsx';
import { useOfferReset, useRemoveOperator } from './use-operator-deeds.tsx';

/** One person. */
export function OperatorRow({
  operator,
  canChange,
  onOffered,
}: {
  operator: OperatorRecord;
  canChange: boolean;
  onOffered: (link: OfferedLink) => void;
}) {
  const self = useOperator();
  const remove = useRemoveOperator();
  const offerReset = useOfferReset();
  const [isEditing, setEditing] = useState(false);
  const { id, name, email, role, createdAt, lastSeenAt } = operator;
  return (
    <RecordRow>
      <RecordHead>
        <span className="flex flex-wrap items-center gap-x-2">
          <span className="min-w-0 font-medium">{name}</span>
          {id === self.id && <Badge>you</Badge>}
        </span>
        <span className="block text-xs break-all text-ink-3">{email}</span>
      </RecordHead>
      <RecordCell label="Role">{ROLE_NAMES[role]}</RecordCell>
      <RecordCell label="Protected" className="lg:whitespace-nowrap">
        {protectedText(operator)}
      </RecordCell>
      <RecordCell label="Last seen" className="lg:whitespace-nowrap">
        {lastSeenAt === undefined ? <span className="text-ink-3">never</span> : <TimeAgo at={lastSeenAt} />}
      </RecordCell>
      <RecordCell label="Joined" className="lg:whitespace-nowrap">
        {createdAt !== undefined && <TimeAgo at={createdAt} />}
      </RecordCell>
      <RecordActions>
        {canChange && (
          <>
            <Button aria-label={`Edit ${name}`} onClick={() => setEditing(true)}>
              Edit
            </Button>
            <Button
              aria-label={`Password link for ${name}`}
              onClick={() => void offerReset(operator).then((link) => link && onOffered(link))}
            >
              Password link
            </Button>
            <Button aria-label={`Remove ${name}`} onClick={() => void remove(operator)}>
              Remove
            </Button>
          </>
        )}
        {isEditing && <EditOperatorDialog operator={operator} onClose={() => setEditing(false)} />}
      </RecordActions>
    </RecordRow>
  );
}
