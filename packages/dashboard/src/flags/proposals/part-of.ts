import type { Decision } from '../../api/proposals.ts';
import { useMayChangeProtected, useOperator } from '../../api/session.ts';
import type { ProposalRecord } from '../../api/types.ts';

/** What a person has to do with a proposal. */
export interface Part {
  /** The person is its author, or created the token that is. */
  readonly isOwn: boolean;
  readonly hasApproved: boolean;
  /** What the person may decide now. */
  readonly may: ReadonlySet<Decision>;
  /** It waits for a decision of this person. */
  readonly isAsked: boolean;
}

/** Returns what the signed-in person has to do with a proposal. The server decides; this only says it before. */
export function usePartOf(): (proposal: ProposalRecord) => Part {
  const { email } = useOperator();
  const mayChange = useMayChangeProtected();
  const self = `operator:${email}`;

  return ({ status, author, person, approvals }) => {
    const isOwn = author === self || person === self;
    const hasApproved = approvals.some(({ by }) => by === self);
    const decides = mayChange && !isOwn;
    const isOpen = status === 'open' || status === 'approved';
    const may = new Set<Decision>([
      ...(status === 'open' && decides && !hasApproved ? (['approve'] as const) : []),
      ...(status === 'approved' && mayChange ? (['apply'] as const) : []),
      ...(isOpen && decides ? (['reject'] as const) : []),
      ...(isOpen && isOwn ? (['withdraw'] as const) : []),
      ...(status === 'emergency' && decides ? (['acknowledge'] as const) : []),
    ]);
    const isAsked = may.has('approve') || may.has('acknowledge') || (may.has('apply') && isOwn);
    return { isOwn, hasApproved, may, isAsked };
  };
}

/** Whether a proposal still waits for someone. */
export function isWaiting({ status }: Pick<ProposalRecord, 'status'>): boolean {
  return status === 'open' || status === 'approved' || status === 'emergency';
}
