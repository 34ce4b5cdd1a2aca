import SearchX from 'lucide-react/icons/search-x';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { isRefusal } from '../../api/api-error.ts';
import { useProposal } from '../../api/proposals.ts';
import type { ProposalRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { Author } from '../../components/badges.tsx';
import { Page } from '../../components/page.tsx';
import { EmptyState, Problem, SkeletonRows, TriedAgain } from '../../components/screen-states.tsx';
import { RecordHeading, Section } from '../../components/section.tsx';
import { TimeAgo } from '../../components/time-ago.tsx';
import { isWaiting } from '../../flags/proposals/part-of.ts';
import { ProposalPlaces } from '../../flags/proposals/proposal-places.tsx';
import { titleOf } from '../../flags/proposals/proposal-words.ts';
import { Decisions } from './decisions.tsx';
import { messages } from './messages.ts';
import { ProposalEffects } from './proposal-effects.tsx';
import { meaningOf, ProposalStatusBadge, useNeeded } from './proposal-status.tsx';

/** One proposal: what it changes, who decides, and what became of it. */
export function ProposalPage({ project, id }: { project: string; id: string }) {
  const { data: proposal, error, failureReason, refetch } = useProposal(project, id);

  const title = proposal === undefined ? messages.title : titleOf(proposal);
  return (
    <Page
      title={`${title} · ${project}`}
      heading={
        <RecordHeading list={messages.back} to={links.proposals(project)}>
          <span className="min-w-0 text-lg wrap-anywhere">{title}</span>
        </RecordHeading>
      }
      name={title}
    >
      {proposal !== undefined ? (
        <Proposal proposal={proposal} />
      ) : isRefusal(error, 'not_found') ? (
        <EmptyState icon={SearchX} title={messages.missingTitle}>
          {messages.missing}
        </EmptyState>
      ) : error === null ? (
        <>
          <TriedAgain reason={failureReason} />
          <SkeletonRows rows={4} />
        </>
      ) : (
        <Problem error={error} onRetry={() => void refetch()} />
      )}
    </Page>
  );
}

function Proposal({ proposal }: { proposal: ProposalRecord }) {
  const { status, author, person, note, createdAt } = proposal;
  const needed = useNeeded(proposal);
  const isMade = status === 'applied' || status === 'emergency' || status === 'acknowledged';

  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_21rem]">
      <div className="flex min-w-0 flex-col gap-4">
        <section className="rounded-lg border border-line bg-surface p-4">
          <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
            <ProposalStatusBadge status={status} />
            <ProposalPlaces proposal={proposal} className="font-medium" />
          </p>
          <p className="mt-2 wrap-anywhere">
            <Author actor={person ?? author} className="font-medium" />
            {person !== undefined && <> {messages.token(author.replace(/^token:/, ''))}</>},{' '}
            <TimeAgo at={createdAt} className="text-ink-3" />
            {note !== undefined && <>: “{note}”</>}
          </p>
          <p className="mt-2">{meaningOf(proposal, needed)}</p>
          <Decisions proposal={proposal} needed={needed} />
        </section>

        <Section title={isMade ? messages.whatChanged : messages.what}>
          <ProposalEffects proposal={proposal} />
        </Section>
      </div>

      <Facts proposal={proposal} needed={needed} />
    </div>
  );
}

/** Who has approved it, until when it waits, and how it ended. */
function Facts({ proposal, needed }: { proposal: ProposalRecord; needed: number }) {
  const { status, approvals, expiresAt } = proposal;
  const { settledBy, settledAt, outcome, seq, project } = proposal;
  const isEmergency = status === 'emergency' || status === 'acknowledged';

  return (
    <dl className="flex min-w-0 flex-col gap-3 rounded-lg border border-line bg-surface p-4">
      {!isEmergency && (
        <Fact name={`${messages.approvedBy} (${messages.approvals(approvals.length, needed)})`}>
          {approvals.length === 0 && <span className="text-ink-3">{messages.noApprovals}</span>}
          <ul>
            {approvals.map(({ by, at }) => (
              <li key={by}>
                <Author actor={by} />, <TimeAgo at={at} />
              </li>
            ))}
          </ul>
        </Fact>
      )}

      {isWaiting(proposal) && !isEmergency && (
        <Fact name={messages.expiry}>
          <TimeAgo at={expiresAt} />
        </Fact>
      )}

      {settledBy !== undefined && settledAt !== undefined && (
        <Fact name={isEmergency ? messages.acknowledgedBy : messages.endedBy}>
          <Author actor={settledBy} />, <TimeAgo at={settledAt} />
        </Fact>
      )}

      {outcome !== undefined && <Fact name={messages.outcome}>{outcome}</Fact>}
      {seq !== undefined && (
        <Fact name={messages.changeLabel}>
          <Link href={`${links.history(project)}?change=${seq}`} className="text-accent hover:underline">
            {messages.change(seq)}
          </Link>
        </Fact>
      )}
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-xs text-ink-3">{name}</dt>
      <dd className="wrap-anywhere">{children}</dd>
    </div>
  );
}
