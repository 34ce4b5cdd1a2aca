import { SYSTEM } from '../../domain/audit.ts';
import type { ManagementContext } from '../../management/context.ts';
import { write } from '../../management/write.ts';
import {
  AlreadySettled,
  type DueRun,
  DueRunner,
  type DueRunnerParts,
  type FailedAttempts,
  runDue,
} from '../due-runner.ts';
import { isPending, type Proposal } from './proposal.ts';
import { lockProposal, readNextToExpire, storeSettlement } from './proposal-table.ts';

/** Proposals per read. */
const BATCH = 20;

/** Ends proposals that were not decided on in time, from its start on. */
export function proposalRunner(parts: DueRunnerParts): DueRunner {
  return new DueRunner('proposal', runDueProposals, parts);
}

/** Ends all proposals whose time has passed, as {@link runDue} says. */
export function runDueProposals(
  context: ManagementContext,
  attempts: FailedAttempts = new Map(),
): Promise<DueRun<'expired'>> {
  return runDue<Proposal & { readonly dueAt: number }, 'expired'>(context, attempts, {
    next: async (db, last) =>
      (await readNextToExpire(db, BATCH, last)).map((each) => ({ ...each, dueAt: each.expiresAt })),
    run: (proposal) => expire(context, proposal),
    fail: () => Promise.resolve(undefined),
  });
}

async function expire(context: ManagementContext, { id }: Proposal): Promise<'expired'> {
  await write(context, SYSTEM, async (tx) => {
    const proposal = await lockProposal(tx, id);
    if (proposal === undefined || !isPending(proposal)) throw new AlreadySettled();
    await storeSettlement(tx, proposal, { status: 'expired', at: context.now(), by: SYSTEM.name });
  });
  return 'expired';
}
