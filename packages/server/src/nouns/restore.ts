import { type Actor, SYSTEM } from '../domain/audit.ts';
import { isTime } from '../domain/iso-time.ts';
import type { OpenDatabase } from '../storage/database.ts';
import type { DatabasePlace } from '../storage/database-copy.ts';
import { type Restored, replaceDatabase } from '../storage/replace-database.ts';
import { SqlStore } from '../storage/store.ts';
import type { Tx } from '../storage/tx.ts';
import { readOpenInvitations, storeRevocation } from './people/invitation-table.ts';
import { readNextToExpire, storeSettlement } from './proposals/proposal-table.ts';
import { readNextPlans, storePlan } from './rollouts/rollout-table.ts';
import { readNextSchedules, settleSchedule } from './schedules/schedule-table.ts';

/** What a restore does not let go on as it was at the time of the backup. */
export interface Interrupted {
  /** Scheduled changes whose time had passed: they have failed. */
  readonly failedSchedules: number;
  /** Scheduled changes that are still to come. */
  readonly pendingSchedules: number;
  /** Rollout plans that were running: they are paused. */
  readonly pausedPlans: number;
  /** Proposals that waited for a decision: they are withdrawn. */
  readonly endedProposals: number;
  /** Links of invitations and for new passwords: they are revoked. */
  readonly endedLinks: number;
}

/** The backup that was restored, and what is wanted of it. */
interface RestoredBackup {
  /** When the backup was made, as in its header. */
  readonly createdAt: string;
  /** Carries on with the schedules and plans, as if nothing had been done since the backup. */
  readonly runOverdue: boolean;
  /** Epoch milliseconds. */
  readonly now: number;
}

/** Schedules or plans that are read at once. */
const BATCH = 500;

/**
 * Replaces the database of a place with a backup, as {@link replaceDatabase} says. What came due since the backup is not
 * carried out, unless `runOverdue` asks for it.
 */
export async function restore(
  file: string,
  place: DatabasePlace,
  {
    replace = false,
    runOverdue = false,
    now = Date.now(),
  }: { readonly replace?: boolean; readonly runOverdue?: boolean; readonly now?: number } = {},
): Promise<Restored & { readonly interrupted: Interrupted }> {
  let interrupted: Interrupted = {
    failedSchedules: 0,
    pendingSchedules: 0,
    pausedPlans: 0,
    endedProposals: 0,
    endedLinks: 0,
  };
  const restored = await replaceDatabase(file, place, {
    replace,
    settle: async (database, createdAt) => {
      interrupted = await interrupt(database, { createdAt, runOverdue, now });
    },
  });
  return { ...restored, interrupted };
}

/**
 * Stops what a node would do by itself as soon as it starts with a restored database: what came due since the backup was
 * carried out, changed or canceled by people then, which the database does not know. Links may have been used since, and
 * would work again. Each leaves its audit row.
 */
async function interrupt(database: OpenDatabase, backup: RestoredBackup): Promise<Interrupted> {
  const actor: Actor = { ...SYSTEM, note: `Restored from the backup of ${backup.createdAt}` };
  const store = new SqlStore(database, { now: () => backup.now });
  const { result } = await store.commit(actor, async (tx) => ({
    ...(await failOverdue(tx, backup)),
    pausedPlans: backup.runOverdue ? 0 : await pausePlans(tx, backup),
    endedProposals: await endProposals(tx, backup),
    endedLinks: await endLinks(tx, backup),
  }));
  return result;
}

async function failOverdue(
  tx: Tx,
  { createdAt, runOverdue, now }: RestoredBackup,
): Promise<Pick<Interrupted, 'failedSchedules' | 'pendingSchedules'>> {
  const outcome = `Its time had passed when the database was restored from the backup of ${createdAt}.`;
  let [failedSchedules, pendingSchedules] = [0, 0];

  for await (const schedule of inPages((last: Due | undefined) => readNextSchedules(tx, BATCH, last))) {
    // A record with a damaged time is never due.
    const isOverdue = isTime(schedule.dueAt) && schedule.dueAt <= now;
    if (!isOverdue || runOverdue) pendingSchedules++;
    else if (await settleSchedule(tx, schedule, { status: 'failed', at: now, outcome })) failedSchedules++;
  }
  return { failedSchedules, pendingSchedules };
}

/** All that run, because the next steps depend on what happened since the backup. A person can resume them. */
async function pausePlans(tx: Tx, { createdAt, now }: RestoredBackup): Promise<number> {
  const reason = `The database was restored from the backup of ${createdAt}.`;
  const paused = { status: 'paused', statusAt: now, statusBy: SYSTEM.name, reason } as const;

  let count = 0;
  for await (const plan of inPages((last: Due | undefined) => readNextPlans(tx, BATCH, last)))
    if (await storePlan(tx, plan, paused, { action: 'rollout.paused' })) count++;
  return count;
}

/** All, because people may have decided on them since the backup. */
async function endProposals(tx: Tx, { createdAt, now }: RestoredBackup): Promise<number> {
  const outcome = `The database was restored from the backup of ${createdAt}.`;
  const settlement = { status: 'withdrawn', at: now, by: SYSTEM.name, outcome } as const;

  const next = async (last: Due | undefined) =>
    (await readNextToExpire(tx, BATCH, last && { id: last.id, expiresAt: last.dueAt })).map((each) => ({
      ...each,
      dueAt: each.expiresAt,
    }));
  let count = 0;
  for await (const proposal of inPages(next)) {
    await storeSettlement(tx, proposal, settlement);
    count++;
  }
  return count;
}

async function endLinks(tx: Tx, { now }: RestoredBackup): Promise<number> {
  const links = await readOpenInvitations(tx, now);
  for (const link of links) await storeRevocation(tx, link, now);
  return links.length;
}

/** What pages continue after. */
interface Due {
  readonly id: string;
  readonly dueAt: number;
}

/** All records, read a page at a time in the order of their times. */
async function* inPages<Record extends { readonly id: string; readonly dueAt?: number }>(
  next: (last: Due | undefined) => Promise<readonly Record[]>,
): AsyncGenerator<Record> {
  for (let last: Due | undefined; ; ) {
    const page = await next(last);
    yield* page;
    const end = page.at(-1);
    if (end === undefined || page.length < BATCH) return;
    last = { id: end.id, dueAt: end.dueAt ?? 0 };
  }
}
