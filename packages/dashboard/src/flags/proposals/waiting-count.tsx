import { useWaitingProposals } from '../../api/proposals.ts';
import { messages } from './messages.ts';
import { usePartOf } from './part-of.ts';

/** How many proposals wait for this person; nothing without any. */
export function WaitingCount({ project }: { project: string }) {
  const partOf = usePartOf();
  const count = useWaitingProposals(project).filter((proposal) => partOf(proposal).isAsked).length;
  if (count === 0) return null;
  return (
    <span className="inline-flex h-4.5 min-w-4.5 items-center justify-center rounded-full bg-accent px-1 text-2xs font-semibold text-accent-ink tabular-nums">
      <span aria-hidden>{count}</span>
      <span className="sr-only">{messages.waits(count)}</span>
    </span>
  );
}
