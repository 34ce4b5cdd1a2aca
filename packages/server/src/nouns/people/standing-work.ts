import { quote } from '../../domain/errors.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import { type AccessToken, isValid } from '../access-tokens/access-token.ts';
import { readAccessTokens } from '../access-tokens/access-token-table.ts';
import { lockEnvironment } from '../environments/environment-table.ts';
import { isPending, type Proposal } from '../proposals/proposal.ts';
import { lockProposal, readProposalsBy, storeSettlement } from '../proposals/proposal-table.ts';
import type { RolloutPlan } from '../rollouts/rollout-plan.ts';
import { readPlansOf, storePlan } from '../rollouts/rollout-table.ts';
import type { Schedule } from '../schedules/schedule.ts';
import { readSchedulesBy, settleSchedule } from '../schedules/schedule-table.ts';
import type { Operator } from './operator.ts';
import { operatorName } from './people.ts';

/** What goes on with the rights of a person, although the person does nothing. */
export interface StandingWork {
  readonly schedules: readonly Schedule[];
  /** Also paused ones. */
  readonly plans: readonly RolloutPlan[];
  /** Those that can still be applied. */
  readonly proposals: readonly Proposal[];
}

/** The names under which a person acts in the audit log: their own, and those of the tokens that belong to them. */
export function actorNames(
  operator: Operator,
  tokens: readonly AccessToken[],
  now: number,
): readonly string[] {
  const own = tokens.filter((token) => token.ownerId === operator.id && isValid(token, now));
  return [operatorName(operator), ...own.map(({ name }) => `token:${name}`)];
}

/** What goes on with the rights of these actors. */
export async function readStandingWork(db: Queryable, names: readonly string[]): Promise<StandingWork> {
  return {
    schedules: await readSchedulesBy(db, names),
    plans: await readPlansOf(db, names),
    proposals: await readProposalsBy(db, names),
  };
}

/**
 * Ends what goes on with the rights of a person who is removed, so that no list shows it as if it were to run: schedules are canceled,
 * plans paused for another person to resume, proposals withdrawn, by the actor of that name. What runs asks for the rights again, so what is begun at the same
 * moment changes nothing either. Comes before the lock on people: who runs such work has locked its environment first.
 * (Spec: S23.3)
 */
export async function endStandingWork(tx: Tx, operator: Operator, by: string): Promise<void> {
  const at = tx.now();
  const names = actorNames(operator, await readAccessTokens(tx), at);
  const { schedules, plans } = await readStandingWork(tx, names);
  const places = new Set([...schedules, ...plans].map(({ environmentId }) => environmentId));
  for (const id of [...places].sort()) await lockEnvironment(tx, id);

  // Read again, as it is under the locks.
  const { proposals, ...work } = await readStandingWork(tx, names);
  const outcome = `${quote(operator.email)}, with whose rights this runs, was removed.`;
  for (const schedule of work.schedules)
    await settleSchedule(tx, schedule, { status: 'cancelled', at, outcome });

  for (const plan of work.plans) {
    if (plan.status !== 'running') continue;
    const paused = { status: 'paused', statusAt: at, statusBy: by, reason: outcome } as const;
    await storePlan(tx, plan, paused, { action: 'rollout.paused' });
  }

  for (const { id } of proposals) {
    const proposal = await lockProposal(tx, id);
    if (proposal === undefined || !isPending(proposal)) continue;
    await storeSettlement(tx, proposal, { status: 'withdrawn', at, by, outcome });
  }
}
