import { lazyPart } from '../../components/lazy-part.ts';

const parts = () => import('./mark-parts.ts');

/** How many proposals wait for this person, in the navigation. */
export const WaitingCount = lazyPart(parts, 'WaitingCount');

/** Says in a flag's row that proposals for it wait. */
export const ProposalMark = lazyPart(parts, 'ProposalMark');
