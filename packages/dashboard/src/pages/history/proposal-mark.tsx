import { Link } from 'wouter';
import type { AuditEntryRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { Badge } from '../../components/badges.tsx';
import { messages } from './messages.ts';

/** Says that a change was approved, or made without approval, and links to its proposal. */
export function ProposalMark({ entries }: { entries: readonly AuditEntryRecord[] }) {
  const entry = entries.find(
    ({ action }) => action === 'proposal.emergency' || action === 'proposal.applied',
  );
  if (entry?.project === undefined) return null;
  const isEmergency = entry.action === 'proposal.emergency';
  return (
    <Link
      href={links.proposal(entry.project, entry.target)}
      className="relative inline-flex min-h-6 shrink-0 items-center hover:underline"
    >
      <Badge kind={isEmergency ? 'danger' : 'good'}>
        {isEmergency ? messages.emergency : messages.approved}
      </Badge>
    </Link>
  );
}
