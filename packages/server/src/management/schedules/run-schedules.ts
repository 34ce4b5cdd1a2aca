import type { Actor } from '../../domain/audit.ts';
import { type Permissions, UNLIMITED } from '../../domain/operator.ts';
import type { Schedule } from '../../domain/schedule.ts';
import { ServiceError } from '../../domain/service-error.ts';
import type { StoreReader, StoreTransaction } from '../../domain/store.ts';
import { quote } from '../../domain/strict-members.ts';
import { commit } from '../commit.ts';
import type { ManagementContext } from '../context.ts';
import { ensureFlags } from '../flags/flag-states.ts';
import { ADMIN_NAME, isValid } from '../people/access-tokens.ts';
import { requireChangeOf } from '../permissions.ts';
import { prefixNote } from '../rules.ts';
import { operationOf, readSteps } from './scheduled-steps.ts';

/** What one look at the schedules came to. */
export interface ScheduleLook {
  /** Due schedules that this call settled, one way or the other. */
  readonly settled: readonly { readonly id: string; readonly status: 'done' | 'failed' }[];
  /** When the next one is due, in epoch milliseconds; absent while none is pending. */
  readonly nextDueAt?: number;
}

/** Due schedules that are read at once. */
const BATCH = 20;

/** Another node has it, or it was cancelled: the transaction ends without a trace. */
class AlreadySettled extends Error {
  override readonly name = 'AlreadySettled';
}

/**
 * Makes every scheduled change that is due, the longest due first. Any number of nodes may do this at once: each change
 * is claimed and made in one transaction, so it is made once. Rejects when the store is out of reach; what is due then
 * stays pending.
 */
export async function runDueSchedules(context: ManagementContext): Promise<ScheduleLook> {
  const settled: { id: string; status: 'done' | 'failed' }[] = [];
  for (;;) {
    const schedules = await context.store.read((reader) => reader.schedules.next(BATCH));
    const due = schedules.filter(({ dueAt }) => dueAt <= context.now());
    for (const schedule of due) {
      const status = await runSchedule(context, schedule);
      if (status !== undefined) settled.push({ id: schedule.id, status });
    }
    if (due.length > 0) continue;
    const [next] = schedules;
    return next === undefined ? { settled } : { settled, nextDueAt: next.dueAt };
  }
}

/** Runs one schedule; `undefined` when somebody else settled it. */
async function runSchedule(
  context: ManagementContext,
  schedule: Schedule,
): Promise<'done' | 'failed' | undefined> {
  const actor = actorOf(schedule);
  const at = context.now();
  try {
    await commit(context, actor, (transaction) => apply(context, transaction, { schedule, actor, at }));
    return 'done';
  } catch (error) {
    if (error instanceof AlreadySettled) return undefined;
    if (!(error instanceof ServiceError) || error.code === 'internal_error') throw error;
    const settlement = { status: 'failed', at, outcome: error.message } as const;
    const isOurs = await commit(context, actor, ({ schedules }) => schedules.settle(schedule, settlement));
    return isOurs ? 'failed' : undefined;
  }
}

async function apply(
  context: ManagementContext,
  transaction: StoreTransaction,
  run: { readonly schedule: Schedule; readonly actor: Actor; readonly at: number },
): Promise<void> {
  const { schedule, at } = run;
  const { projectId, environmentId } = schedule;
  // The environment first, as whoever deletes its project does; then the claim.
  const environment = await transaction.lockEnvironment(environmentId);
  if (!(await transaction.schedules.settle(schedule, { status: 'done', at }))) throw new AlreadySettled();
  if (environment === undefined) {
    throw new ServiceError('environment_not_found', 'The environment has been deleted.');
  }
  requireChangeOf({ ...run.actor, permissions: await permissionsOf(transaction, schedule, at) }, environment);
  const steps = readSteps(schedule.changes);
  const operations = [];
  for (const step of steps) {
    const current = await transaction.state(environmentId, step.key);
    operations.push(operationOf(step, current?.state));
  }
  const keys = operations.flatMap(([key, state]) => (state === null ? [] : [key]));
  if (keys.length > 0) await ensureFlags(context, transaction, { projectId, keys });
  await transaction.changeStates(environment, operations);
}

/** What the maker of the schedule may do now. Somebody who came later under the same name is somebody else. */
async function permissionsOf(
  reader: StoreReader,
  { createdBy, createdAt }: Schedule,
  now: number,
): Promise<Permissions> {
  const [, kind, name = ''] = /^(token|operator):(.*)$/s.exec(createdBy) ?? [];
  if (createdBy === 'system' || (kind === 'token' && name === ADMIN_NAME)) return UNLIMITED;
  const maker =
    kind === 'operator'
      ? await reader.people.operatorByEmail(name)
      : (await reader.accessTokens()).find((token) => token.name === name && isValid(token, now));
  if (maker !== undefined && maker.createdAt <= createdAt) {
    return { role: maker.role, canChangeProtected: maker.canChangeProtected, confirmed: 'all' };
  }
  throw new ServiceError(
    'forbidden',
    `Who scheduled it, ${quote(createdBy)}, may not change anything any more: removed, revoked or expired.`,
  );
}

function actorOf({ id, createdBy, note }: Schedule): Actor {
  return {
    name: createdBy,
    // Looked up when the schedule runs, in the same transaction.
    permissions: { role: 'viewer', canChangeProtected: false, confirmed: [] },
    note: prefixNote(`Schedule ${id}`, note),
  };
}
