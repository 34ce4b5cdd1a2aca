import { lazy } from 'react';

const parts = () => import('./mark-parts.ts');

/** How many proposals wait for this person, in the navigation. */
export const WaitingCount = lazy(async () => ({ default: (await parts()).WaitingCount }));

/** Says in a flag's row that proposals for it wait. */
export const ProposalMark = lazy(async () => ({ default: (await parts()).ProposalMark }));
