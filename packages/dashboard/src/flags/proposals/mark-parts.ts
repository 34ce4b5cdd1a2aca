/** The marks of proposals, which are loaded where an environment requires approvals. */
export { ProposalMark } from './proposal-mark.tsx';
export { WaitingCount } from './waiting-count.tsx';
