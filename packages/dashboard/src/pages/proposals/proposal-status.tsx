import type { ProposalStatus } from '@halyard/protocol';
import CircleCheck from 'lucide-react/icons/circle-check';
import CirclePause from 'lucide-react/icons/circle-pause';
import CircleSlash from 'lucide-react/icons/circle-slash';
import Clock from 'lucide-react/icons/clock';
import History from 'lucide-react/icons/history';
import ShieldAlert from 'lucide-react/icons/shield-alert';
import type { ProposalRecord } from '../../api/types.ts';
import { Badge, type BadgeLook } from '../../components/badges.tsx';
import { usePlaces } from '../../flags/proposals/proposal-places.tsx';
import { messages } from './messages.ts';

const APPEARANCE: Readonly<Record<ProposalStatus, BadgeLook>> = {
  open: { kind: 'accent', icon: Clock },
  approved: { kind: 'accent', icon: CirclePause },
  applied: { kind: 'good', icon: CircleCheck },
  outdated: { kind: 'warn', icon: History },
  rejected: { kind: 'plain', icon: CircleSlash },
  withdrawn: { kind: 'plain', icon: CircleSlash },
  expired: { kind: 'plain', icon: CircleSlash },
  emergency: { kind: 'danger', icon: ShieldAlert },
  acknowledged: { kind: 'plain', icon: ShieldAlert },
};

/** The status of a proposal, as an icon and a word. */
export function ProposalStatusBadge({ status }: { status: ProposalStatus }) {
  return <Badge {...APPEARANCE[status]}>{messages.statuses[status]}</Badge>;
}

/** How many people have to approve a proposal: what its environments require now, while it is open. */
export function useNeeded(proposal: ProposalRecord): number {
  const now = usePlaces(proposal).map(({ approvals }) => approvals);
  return proposal.status === 'open' && now.length > 0 ? Math.max(1, ...now) : proposal.required;
}

/** The status in a sentence. */
export function meaningOf(proposal: ProposalRecord, needed: number): string {
  const { status, hold, approvals } = proposal;
  if (status !== 'open') return messages.meaning[status];
  return messages.meaning[hold ? 'held' : 'open'](Math.max(1, needed - approvals.length));
}
