import type { Logger } from 'pino';
import { Alarm } from '../../domain/alarm.ts';
import { type Actor, SYSTEM } from '../../domain/audit.ts';
import { quote, ServiceError } from '../../domain/errors.ts';
import type { Permissions } from '../../domain/people.ts';
import { CHANGED_OUTSIDE, type RolloutPlan, type RolloutStatus } from '../../domain/rollout-plan.ts';
import type { Schedule } from '../../domain/schedule.ts';
import type { StoreReader, StoreTransaction } from '../../domain/store.ts';
import type { ManagementContext } from '../context.ts';
import { changeStates } from '../flags/change-states.ts';
import { requireFlags } from '../flags/flag-states.ts';
import { currentPermissions } from '../people/grants.ts';
import { prefixNote } from '../rules.ts';
import { mayChange, requireChangeOf, write } from '../write.ts';
import { AlreadySettled, type FailedAttempts, runDue, type ScheduleRun } from './due-records.ts';
import { applyStep } from './rollout-plans.ts';
import { operationOf, readSteps } from './schedules.ts';

/** Schedules per read. */
const BATCH = 20;

/**
 * Runs all due schedules, the oldest first. Any number of nodes may do this at once: a schedule is claimed and its change
 * made in one transaction, so it runs once. After an unexpected error it is retried as counted in `attempts`, and fails in
 * the end; the others do not wait for it. Rejects when the store is unreachable; due schedules then stay pending.
 */
export function runDueSchedules(
  context: ManagementContext,
  attempts: FailedAttempts = new Map(),
): Promise<ScheduleRun> {
  return runDue<Schedule, 'done' | 'failed'>(context, attempts, {
    next: (reader, last) => reader.schedules.next(BATCH, last),
    run: async (schedule) => {
      const run = { schedule, actor: actorOf(schedule), at: context.now() };
      await write(context, run.actor, (transaction) => apply(transaction, run));
      return 'done';
    },
    fail: async (schedule, outcome) => {
      const settlement = { status: 'failed', at: context.now(), outcome } as const;
      const settle = ({ schedules }: StoreTransaction) => schedules.settle(schedule, settlement);
      return (await write(context, actorOf(schedule), settle)) ? 'failed' : undefined;
    },
  });
}

/**
 * Runs the next step of all due rollout plans; otherwise as {@link runDueSchedules}. A plan that is refused its step is
 * paused with the reason.
 */
export function runDueRollouts(
  context: ManagementContext,
  attempts: FailedAttempts = new Map(),
): Promise<ScheduleRun<RolloutStatus>> {
  return runDue<RolloutPlan, RolloutStatus>(context, attempts, {
    next: (reader, last) => reader.rollouts.next(BATCH, last),
    run: async (plan) => {
      const at = context.now();
      const actor = planActor(plan);
      const moved = await write(context, actor, (transaction) => applyDueStep(transaction, { plan, at }));
      if (moved.dueAt !== undefined) context.scheduled?.(moved.dueAt);
      return moved.status;
    },
    fail: async (plan, reason) => {
      const paused = { status: 'paused', statusAt: context.now(), statusBy: 'system', reason } as const;
      const move = ({ rollouts }: StoreTransaction) =>
        rollouts.move(plan, paused, { action: 'rollout.paused' });
      return (await write(context, SYSTEM, move)) ? 'paused' : undefined;
    },
  });
}

/** Runs the step of a plan that is due, as its author may at that moment. */
async function applyDueStep(
  transaction: StoreTransaction,
  { plan, at }: { readonly plan: RolloutPlan; readonly at: number },
): Promise<RolloutPlan> {
  const { id, projectId, environmentId, flagKey, runsAs, runsSince } = plan;
  const environment = await transaction.lockEnvironment(environmentId);
  const current = await transaction.rollouts.find(id);
  if (current?.status !== 'running' || current.nextStep !== plan.nextStep || current.dueAt !== plan.dueAt) {
    throw new AlreadySettled();
  }
  if (environment === undefined) {
    throw new ServiceError('environment_not_found', 'The environment has been deleted.');
  }
  const requireRights = async () => {
    const permissions = await currentPermissions(transaction, runsAs, { now: at, since: runsSince });
    if (permissions !== undefined && mayChange({ name: runsAs, permissions }, environment)) return;
    const who = `${quote(runsAs)}, who started or resumed the plan,`;
    throw new ServiceError('forbidden', `${who} may no longer change ${environment.name}.`);
  };
  await requireRights();
  await requireFlags(transaction, { projectId, keys: [flagKey] });
  const state = await transaction.state(environmentId, flagKey);
  // Writers pause the plan themselves, but a node of an older version does not know about plans.
  if (state?.revision !== current.stateRevision) throw new ServiceError('revision_conflict', CHANGED_OUTSIDE);
  const moved = await applyStep(transaction, { plan: current, environment, at });
  // Under the lock of people, as a commit checks the author of a request.
  await transaction.people.lock();
  await requireRights();
  return moved;
}

/** The actor's current permissions replace these in the transaction that runs the change. */
const REPLACED: Permissions = { role: 'viewer', canChangeProtected: false, confirmed: [] };

function planActor(plan: RolloutPlan): Actor {
  return { name: plan.runsAs, permissions: REPLACED, note: prefixNote('Rollout plan', plan.note) };
}

async function apply(
  transaction: StoreTransaction,
  run: { readonly schedule: Schedule; readonly actor: Actor; readonly at: number },
): Promise<void> {
  const { schedule, at } = run;
  const { projectId, environmentId } = schedule;
  // Locks in the order in which a project is deleted: the environment, then the schedule.
  const environment = await transaction.lockEnvironment(environmentId);
  if (!(await transaction.schedules.settle(schedule, { status: 'done', at }))) throw new AlreadySettled();
  if (environment === undefined) {
    throw new ServiceError('environment_not_found', 'The environment has been deleted.');
  }
  const requireRights = async () =>
    requireChangeOf(
      { ...run.actor, permissions: await permissionsOf(transaction, schedule, at) },
      environment,
    );
  await requireRights();
  const steps = readSteps(schedule.changes);
  await requireFlags(transaction, { projectId, keys: steps.map(({ key }) => key) });
  const operations = [];
  for (const step of steps) {
    const current = await transaction.state(environmentId, step.key);
    operations.push(operationOf(step, current?.state));
  }
  await changeStates(transaction, environment, operations);
  // Under the lock of people, as a commit checks the author of a request.
  await transaction.people.lock();
  await requireRights();
}

async function permissionsOf(
  reader: StoreReader,
  { createdBy, createdAt }: Schedule,
  now: number,
): Promise<Permissions> {
  const permissions = await currentPermissions(reader, createdBy, { now, since: createdAt });
  if (permissions !== undefined) return permissions;
  throw new ServiceError(
    'forbidden',
    `${quote(createdBy)}, who scheduled this, no longer has permission to make changes.`,
  );
}

function actorOf({ id, createdBy, note }: Schedule): Actor {
  return { name: createdBy, permissions: REPLACED, note: prefixNote(`Schedule ${id}`, note) };
}

/** Milliseconds between two polls, which find the schedules that other nodes accepted. */
const POLL_MS = 5_000;

/** The parts of a {@link ScheduleRunner}. */
export interface ScheduleRunnerParts {
  readonly context: ManagementContext;
  readonly log: Logger;
  /** Whether the node accepts changes; otherwise due schedules wait. */
  readonly isReady: () => boolean;
}

/**
 * Runs schedules when they are due: wakes up for the next known one, and polls every five seconds for others. Every node
 * has a runner; the store makes sure that each schedule runs once.
 */
export class ScheduleRunner {
  readonly #parts: ScheduleRunnerParts;
  readonly #alarm = new Alarm();
  readonly #attempts = { schedules: new Map(), rollouts: new Map() } satisfies Record<string, FailedAttempts>;
  #isRunning = false;
  #running: Promise<void> | undefined;
  /** When the runner wakes up by itself, by the context's clock. Later than anything during a poll, which may miss what is new. */
  #wakesAt = Number.POSITIVE_INFINITY;

  constructor(parts: ScheduleRunnerParts) {
    this.#parts = parts;
  }

  /** Polls at once, and from then on until {@link close}. */
  start(): void {
    this.#isRunning = true;
    this.#running = this.#run();
  }

  /** Wakes up for a schedule that was just created. */
  note(dueAt: number): void {
    if (dueAt < this.#wakesAt) this.#alarm.ring();
  }

  /** Stops, after the schedule that is running. Safe to call twice. */
  async close(): Promise<void> {
    this.#isRunning = false;
    this.#alarm.ring();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      const delayMs = await this.#poll();
      this.#wakesAt = this.#parts.context.now() + delayMs;
      await this.#alarm.wait(performance.now() + delayMs);
      this.#wakesAt = Number.POSITIVE_INFINITY;
    }
  }

  /** Runs what is due; returns how long to wait. Never rejects. */
  async #poll(): Promise<number> {
    const { context, log, isReady } = this.#parts;
    if (!isReady()) return POLL_MS / 5;
    try {
      const schedules = await runDueSchedules(context, this.#attempts.schedules);
      for (const { id, error } of schedules.errors) {
        log.error({ err: error, schedule: id }, 'scheduled change failed unexpectedly');
      }
      for (const { id, status } of schedules.settled) log.info({ schedule: id, status }, 'schedule settled');
      const rollouts = await runDueRollouts(context, this.#attempts.rollouts);
      for (const { id, error } of rollouts.errors) {
        log.error({ err: error, rollout: id }, 'step of a rollout plan failed unexpectedly');
      }
      for (const { id, status } of rollouts.settled) log.info({ rollout: id, status }, 'rollout plan moved');
      const nextDueAt = Math.min(schedules.nextDueAt ?? Infinity, rollouts.nextDueAt ?? Infinity);
      return Math.min(POLL_MS, Math.max(0, nextDueAt - context.now()));
    } catch (err) {
      log.warn({ err }, 'cannot read schedules; retrying');
      return POLL_MS;
    }
  }
}
