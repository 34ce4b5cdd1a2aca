import { defined } from '@halyard/protocol';
import { approvalBy } from '../../domain/approval.ts';
import { quote, ServiceError } from '../../domain/errors.ts';
import type { Permissions } from '../../domain/rights.ts';
import type { ManagementContext } from '../../management/context.ts';
import { prefixNote } from '../../management/rules.ts';
import { requireChangeOf, write } from '../../management/write.ts';
import type { Queryable } from '../../storage/database.ts';
import type { Tx } from '../../storage/tx.ts';
import {
  AlreadySettled,
  type DueRun,
  DueRunner,
  type DueRunnerParts,
  dueAuthor,
  type FailedAttempts,
  runDue,
} from '../due-runner.ts';
import { lockEnvironment } from '../environments/environment-table.ts';
import { environmentDeleted } from '../lookup.ts';
import { currentPermissions } from '../people/grants.ts';
import { changeStates } from '../states/change-states.ts';
import { readTexts } from '../states/state-table.ts';
import { requireFlags } from '../states/states.ts';
import type { Schedule } from './schedule.ts';
import { readNextSchedules, settleSchedule } from './schedule-table.ts';
import { operationOf, readSteps } from './steps.ts';

/** Schedules per read. */
const BATCH = 20;

/** Runs schedules when they are due, from its start on. */
export function scheduleRunner(parts: DueRunnerParts): DueRunner {
  return new DueRunner('schedule', runDueSchedules, parts);
}

/** Runs all schedules that are due, as {@link runDue} says. One that is refused its change has failed. */
export function runDueSchedules(
  context: ManagementContext,
  attempts: FailedAttempts = new Map(),
): Promise<DueRun<'done' | 'failed'>> {
  return runDue<Schedule, 'done' | 'failed'>(context, attempts, {
    next: (db, last) => readNextSchedules(db, BATCH, last),
    run: async (schedule) => {
      const at = context.now();
      await write(context, authorOf(schedule), (tx) => runSchedule(tx, schedule, at));
      return 'done';
    },
    fail: async (schedule, outcome) => {
      const settlement = { status: 'failed', at: context.now(), outcome } as const;
      const isFirst = await write(context, authorOf(schedule), (tx) =>
        settleSchedule(tx, schedule, settlement),
      );
      return isFirst ? 'failed' : undefined;
    },
  });
}

/** Makes the change of a schedule, as its author may at that moment. */
async function runSchedule(tx: Tx, schedule: Schedule, at: number): Promise<void> {
  const { projectId, environmentId, proposal } = schedule;

  // Locks in the order in which a project is deleted: the environment, then the schedule.
  const environment = await lockEnvironment(tx, environmentId);
  if (!(await settleSchedule(tx, schedule, { status: 'done', at }))) throw new AlreadySettled();
  if (environment === undefined) throw environmentDeleted();

  const approval = approvalBy(proposal);
  const requireRights = async () => {
    const permissions = await permissionsOf(tx, schedule, at);
    requireChangeOf({ ...authorOf(schedule), permissions, ...defined({ approval }) }, environment);
  };
  await requireRights();
  const steps = readSteps(schedule.changes);
  const keys = steps.map(({ key }) => key);
  await requireFlags(tx, { projectId, keys });

  const current = await readTexts(tx, environmentId, keys);
  const operations = steps.map((step) => operationOf(step, current.get(step.key)));
  await changeStates(tx, environment, operations);

  // Under the lock of people, as a commit checks the author of a request.
  await tx.lockPeople();
  await requireRights();
}

async function permissionsOf(
  db: Queryable,
  { createdBy, createdAt }: Schedule,
  now: number,
): Promise<Permissions> {
  const permissions = await currentPermissions(db, createdBy, { now, since: createdAt });
  if (permissions !== undefined) return permissions;
  throw new ServiceError(
    'forbidden',
    `${quote(createdBy)}, who scheduled this, no longer has permission to make changes.`,
  );
}

/** Its note stands for a reason, also where one is required only since it was created. */
function authorOf({ id, createdBy, note }: Schedule) {
  return dueAuthor(createdBy, prefixNote(`Schedule ${id}`, note));
}
