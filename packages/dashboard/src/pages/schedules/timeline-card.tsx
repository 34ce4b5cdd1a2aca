import { Link } from 'wouter';
import type { EnvironmentRecord, ProposalRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { Author } from '../../components/badges.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { titleOf } from '../../flags/proposals/proposal-words.ts';
import { PlanView } from '../../flags/rollouts/plan-view.tsx';
import { ScheduleItem } from '../../flags/schedules/schedule-item.tsx';
import { messages } from './messages.ts';
import type { TimelineItem } from './timeline-items.ts';

/** An item of the timeline in full, with what a person can do with it. */
export function TimelineCard({
  project,
  item: { source, status },
  environment,
}: {
  project: string;
  item: TimelineItem;
  /** `undefined` once it is deleted. */
  environment: EnvironmentRecord | undefined;
}) {
  if ('proposal' in source) return <ProposalCard proposal={source.proposal} />;
  if ('schedule' in source) {
    return (
      <>
        {status === 'overdue' && <p className="px-3 pt-3 text-danger">{messages.overdueWhy}</p>}
        <ul>
          <ScheduleItem project={project} schedule={source.schedule} />
        </ul>
      </>
    );
  }

  const { plan, state } = source;
  return (
    <div className="px-3 py-3">
      <p className="mb-2">
        <Link
          href={`${links.flag(project, plan.flag)}?env=${encodeURIComponent(plan.environment ?? '')}`}
          className="font-mono text-xs wrap-anywhere text-accent hover:underline"
        >
          {plan.flag}
        </Link>
      </p>
      <PlanView project={project} environment={environment} plan={plan} state={state} />
    </div>
  );
}

/** A proposal is decided on its own screen. */
function ProposalCard({ proposal }: { proposal: ProposalRecord }) {
  const { project, id, author, createdAt, note } = proposal;
  return (
    <div className="space-y-1 px-3 py-3">
      <p className="font-medium wrap-anywhere">{titleOf(proposal)}</p>
      {note !== undefined && <p className="wrap-anywhere text-ink-2">“{note}”</p>}
      <p className="text-ink-2">{messages.waitingWhy}</p>
      <p className="text-xs text-ink-3">
        {messages.plannedBy} <Author actor={author} />, <TimeAgo at={createdAt} />
      </p>
      <p>
        <Link href={links.proposal(project, id)} className="text-accent underline">
          {messages.openProposal}
        </Link>
      </p>
    </div>
  );
}
