import { Link } from 'wouter';
import { useWaitingProposals } from '../../api/proposals.ts';
import type { ProposalRecord } from '../../api/types.ts';
import { links } from '../../browser/links.ts';
import { messages } from './messages.ts';
import { keysOf } from './proposal-words.ts';

/** Says in a flag's row that proposals for it wait, and links to them; nothing without any. */
export function ProposalMark({ project, flag }: { project: string; flag: string }) {
  const [first, ...others] = byFlag(useWaitingProposals(project)).get(flag) ?? [];
  if (first === undefined) return null;
  const count = 1 + others.length;
  return (
    <Link
      href={count === 1 ? links.proposal(project, first.id) : links.proposals(project)}
      title={messages.markOf(flag, count)}
      aria-label={messages.markOf(flag, count)}
      className="h-4.5 shrink-0 rounded bg-accent-soft px-1 text-2xs leading-4.5 font-medium text-accent hover:underline"
    >
      {messages.mark(count)}
    </Link>
  );
}

/** The proposals of each flag, for all rows once. */
const known = new WeakMap<readonly ProposalRecord[], ReadonlyMap<string, readonly ProposalRecord[]>>();

/** The proposals that touch each flag, by its key. */
function byFlag(proposals: readonly ProposalRecord[]): ReadonlyMap<string, readonly ProposalRecord[]> {
  const found = known.get(proposals);
  if (found !== undefined) return found;

  const flags = new Map<string, ProposalRecord[]>();
  for (const proposal of proposals) {
    for (const key of keysOf(proposal)) flags.set(key, [...(flags.get(key) ?? []), proposal]);
  }
  known.set(proposals, flags);
  return flags;
}
