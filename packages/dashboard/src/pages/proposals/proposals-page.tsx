import UserCheck from 'lucide-react/icons/user-check';
import { Link, useParams } from 'wouter';
import { requiresApprovals, useEnvironments } from '../../api/projects.ts';
import { useProposals } from '../../api/proposals.ts';
import { useCan } from '../../api/session.ts';
import type { ProposalRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { Author } from '../../components/badges.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState, Loaded } from '../../components/screen-states.tsx';
import { Section } from '../../components/section.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { isWaiting, usePartOf } from '../../flags/proposals/part-of.ts';
import { ProposalPlaces } from '../../flags/proposals/proposal-places.tsx';
import { titleOf } from '../../flags/proposals/proposal-words.ts';
import { messages } from './messages.ts';
import { ProposalPage } from './proposal-page.tsx';
import { ProposalStatusBadge, useNeeded } from './proposal-status.tsx';

/** The screen "Proposals", or that of one proposal. */
export function ProposalsPage() {
  const { project = '', id } = useParams<{ project: string; id?: string }>();
  return id === undefined ? (
    <ProposalList project={project} />
  ) : (
    <ProposalPage key={id} project={project} id={id} />
  );
}

/** What waits for the person first, then what waits for others, then what has ended. */
function ProposalList({ project }: { project: string }) {
  const reading = useProposals(project);
  return (
    <Page title={`${messages.title} · ${project}`} heading={messages.title} intro={messages.intro}>
      <Loaded reading={reading} rows={4}>
        {(proposals) =>
          proposals.length === 0 ? <NoProposals project={project} /> : <Groups proposals={proposals} />
        }
      </Loaded>
    </Page>
  );
}

function NoProposals({ project }: { project: string }) {
  const isAdmin = useCan('admin');
  const isUsed = useEnvironments(project).some(requiresApprovals);
  return (
    <EmptyState
      icon={UserCheck}
      title={messages.emptyTitle}
      action={
        isAdmin &&
        !isUsed && (
          <Link href={links.environments(project)} className="text-accent hover:underline">
            {messages.settings}
          </Link>
        )
      }
    >
      {messages.empty}
    </EmptyState>
  );
}

function Groups({ proposals }: { proposals: readonly ProposalRecord[] }) {
  const partOf = usePartOf();
  const { asked, waiting, ended } = {
    asked: [],
    waiting: [],
    ended: [],
    ...Object.groupBy(proposals, (proposal) => {
      if (!isWaiting(proposal)) return 'ended';
      return partOf(proposal).isAsked ? 'asked' : 'waiting';
    }),
  };

  return (
    <>
      <Group
        name={messages.asked}
        proposals={asked.toSorted((one, other) => rank(one) - rank(other))}
        empty={messages.nothingAsked}
      />
      <Group name={messages.waiting} proposals={waiting} />
      <Group name={messages.ended} proposals={ended} />
    </>
  );
}

/** Emergencies first: they are in effect already. */
function rank({ status }: ProposalRecord): number {
  return status === 'emergency' ? 0 : 1;
}

function Group({
  name,
  proposals,
  empty,
}: {
  name: string;
  proposals: readonly ProposalRecord[];
  /** What is shown without proposals; otherwise the group is left out. */
  empty?: string;
}) {
  if (proposals.length === 0 && empty === undefined) return null;

  return (
    <Section
      className="mb-6"
      title={
        <>
          {name} {proposals.length > 0 && <span className="font-normal text-ink-3">{proposals.length}</span>}
        </>
      }
    >
      {proposals.length === 0 ? (
        <p className="rounded-lg border border-line bg-surface px-3 py-3 text-ink-2">{empty}</p>
      ) : (
        <ul
          aria-label={messages.list(name)}
          className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface"
        >
          {proposals.map((proposal) => (
            <ProposalItem key={proposal.id} proposal={proposal} />
          ))}
        </ul>
      )}
    </Section>
  );
}

/** One proposal: its title is the link, which covers the row. */
function ProposalItem({ proposal }: { proposal: ProposalRecord }) {
  const { id, project, status, author, note, createdAt, settledAt, expiresAt, approvals } = proposal;
  const needed = useNeeded(proposal);

  return (
    <li className="relative px-3 py-2.5 hover:bg-hover">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <ProposalStatusBadge status={status} />
        <Link
          href={links.proposal(project, id)}
          className="min-w-0 font-medium wrap-anywhere after:absolute after:inset-0 hover:underline"
        >
          {titleOf(proposal)}
        </Link>
        <ProposalPlaces proposal={proposal} className="text-ink-2" />
        {status === 'open' && (
          <span className="text-xs text-ink-2 sm:ml-auto">
            {messages.approvalsLong(approvals.length, needed)}
          </span>
        )}
      </p>

      <p className="mt-0.5 flex flex-wrap gap-x-1.5 text-xs text-ink-3">
        <span>
          {messages.by} <Author actor={author} />, <TimeAgo at={settledAt ?? createdAt} />
        </span>
        {note !== undefined && <span className="min-w-0 wrap-anywhere text-ink-2">“{note}”</span>}
        {status === 'open' && (
          <span className="sm:ml-auto">
            {messages.expires} <TimeAgo at={expiresAt} />
          </span>
        )}
      </p>
    </li>
  );
}
