import type { ProposalStatus } from '@halyard/protocol';
import type { LucideIcon } from 'lucide-react';
import CircleCheck from 'lucide-react/icons/circle-check';
import CirclePause from 'lucide-react/icons/circle-pause';
import CircleSlash from 'lucide-react/icons/circle-slash';
import Clock from 'lucide-react/icons/clock';
import History from 'lucide-react/icons/history';
import ShieldAlert from 'lucide-react/icons/shield-alert';
import type { EnvironmentRecord, ProposalRecord } from '../../api/types.ts';
import { Badge, type BadgeKind } from '../../components/badges.tsx';
import { messages } from './messages.ts';

const APPEARANCE: Readonly<Record<ProposalStatus, readonly [kind: BadgeKind, icon: LucideIcon]>> = {
  open: ['accent', Clock],
  approved: ['accent', CirclePause],
  applied: ['good', CircleCheck],
  outdated: ['warn', History],
  rejected: ['plain', CircleSlash],
  withdrawn: ['plain', CircleSlash],
  expired: ['plain', CircleSlash],
  emergency: ['danger', ShieldAlert],
  acknowledged: ['plain', ShieldAlert],
};

/** The status of a proposal, as an icon and a word. */
export function ProposalStatusBadge({ status }: { status: ProposalStatus }) {
  const [kind, icon] = APPEARANCE[status];
  return (
    <Badge kind={kind} icon={icon}>
      {messages.statuses[status]}
    </Badge>
  );
}

/** How many people have to approve a proposal: what its environments require now, while it is open. */
export function neededBy(
  { environments, status, required }: ProposalRecord,
  all: readonly EnvironmentRecord[],
): number {
  const now = all.filter(({ name }) => environments.includes(name)).map(({ approvals }) => approvals);
  return status === 'open' && now.length > 0 ? Math.max(1, ...now) : required;
}

/** The status in a sentence. */
export function meaningOf(proposal: ProposalRecord, needed: number): string {
  const { status, hold, approvals } = proposal;
  if (status !== 'open') return messages.meaning[status];
  return messages.meaning[hold ? 'held' : 'open'](Math.max(1, needed - approvals.length));
}
