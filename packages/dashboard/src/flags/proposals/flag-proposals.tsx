import UserCheck from 'lucide-react/icons/user-check';
import { useId } from 'react';
import { Link } from 'wouter';
import { useWaitingProposals } from '../../api/proposals.ts';
import { links } from '../../browser/links.ts';
import { Author } from '../../components/badges.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import type { FlagPanelProps } from '../panel-props.ts';
import { messages } from './messages.ts';
import { ProposalPlaces } from './proposal-places.tsx';
import { keysOf, titleOf } from './proposal-words.ts';

/** Shows the waiting proposals for a flag, before someone edits it. */
export function FlagProposals({ project, flag }: FlagPanelProps) {
  const id = useId();
  const proposals = useWaitingProposals(project.name).filter((each) => keysOf(each).includes(flag.key));
  if (proposals.length === 0) return null;
  const areAllMade = proposals.every(({ status }) => status === 'emergency');

  return (
    <section aria-labelledby={id} className="rounded-lg border border-accent bg-accent-soft px-4 py-3">
      <h2 id={id} className="flex items-center gap-2 font-medium">
        <UserCheck size={16} aria-hidden className="shrink-0 text-accent" />{' '}
        {areAllMade ? messages.emergencyNotice : messages.notice}
      </h2>
      <ul className="mt-1.5 space-y-1">
        {proposals.map((proposal) => (
          <li key={proposal.id} className="flex flex-wrap items-center gap-x-1.5">
            <Author actor={proposal.author} />
            {proposal.status === 'emergency' ? messages.emergency : messages.proposes}
            <Link
              href={links.proposal(project.name, proposal.id)}
              className="inline-flex min-h-6 items-center wrap-anywhere text-accent underline"
            >
              {titleOf(proposal)}
            </Link>
            {messages.in}
            <ProposalPlaces proposal={proposal} />
            <TimeAgo at={proposal.createdAt} className="text-xs text-ink-2" />
          </li>
        ))}
      </ul>
      <p className="mt-1.5 text-xs text-ink-2">{areAllMade ? messages.emergencyHint : messages.noticeHint}</p>
    </section>
  );
}
