import { defined } from '@halyard/protocol';
import type { Actor } from '../../domain/audit.ts';
import { environmentNotFound, ServiceError, StoreBusy, StoreOutage } from '../../domain/errors.ts';
import { isTime } from '../../domain/iso-time.ts';
import type { StoreReader } from '../../domain/store.ts';
import type { ManagementContext } from '../context.ts';
import { findProject } from '../lookup.ts';

/** The result of one run over the schedules, or over the rollout plans. */
export interface ScheduleRun<Status extends string = 'done' | 'failed'> {
  /** Due ones that this call moved, with their status since. */
  readonly settled: readonly { readonly id: string; readonly status: Status }[];
  /** Attempts that failed with an unexpected error, rather than a refusal. */
  readonly errors: readonly { readonly id: string; readonly error: unknown }[];
  /** When the next one is due or retried, in epoch milliseconds; absent when none is pending. */
  readonly nextDueAt?: number;
}

/** How often each schedule or plan has failed on this node, and when it is retried. */
export type FailedAttempts = Map<string, { readonly count: number; readonly retryAt: number }>;

/** Attempts for a schedule that fails unexpectedly, and the pause after the first one; it doubles each time. */
export const SCHEDULE_ATTEMPTS = { most: 5, pauseMs: 5_000 } as const;

/** Another node has run it, or it was canceled, paused or stopped: the transaction is rolled back. */
export class AlreadySettled extends Error {
  override readonly name = 'AlreadySettled';
}

/** A record with the name of its environment, which is absent once the environment is deleted. */
export type Named<Record> = Record & { readonly environment?: string };

/** The record with the name of its environment. */
export function withName<Record extends object>(
  record: Record,
  environment: string | undefined,
): Named<Record> {
  return { ...record, ...defined({ environment }) };
}

/** Lists records of a project, or of one environment, with names. `project_not_found`, `environment_not_found`. */
export function listNamed<Record extends { readonly environmentId: string }>(
  context: ManagementContext,
  actor: Actor,
  { project, environment }: { readonly project: string; readonly environment?: string },
  list: (
    reader: StoreReader,
    place: { readonly projectId: string; readonly environmentId?: string },
  ) => Promise<readonly Record[]>,
): Promise<readonly Named<Record>[]> {
  return context.store.read(async (reader) => {
    const { id: projectId } = await findProject(reader, actor, project);
    const environments = await reader.environments(projectId);
    const chosen = environments.find(({ name }) => name === environment);
    if (environment !== undefined && chosen === undefined) throw environmentNotFound(environment);
    const records = await list(reader, { projectId, ...defined({ environmentId: chosen?.id }) });
    const names = new Map(environments.map(({ id, name }) => [id, name]));
    return records.map((record) => withName(record, names.get(record.environmentId)));
  });
}

/** A record that runs at its time. */
interface Due {
  readonly id: string;
  readonly dueAt?: number;
}

/** How one kind of due record is read and run. */
export interface Kind<Record extends Due, Status extends string> {
  /** The next ones after `last`, by due time. */
  readonly next: (reader: StoreReader, last: Record | undefined) => Promise<readonly Record[]>;
  /** Runs one in a transaction of its own; returns its status since. Throws {@link AlreadySettled}, or a refusal. */
  readonly run: (record: Record) => Promise<Status>;
  /** Records a refusal; `undefined` when another node was first. */
  readonly fail: (record: Record, outcome: string) => Promise<Status | undefined>;
}

/** Runs all due records of one kind, the oldest first. */
export async function runDue<Record extends Due, Status extends string>(
  context: ManagementContext,
  attempts: FailedAttempts,
  kind: Kind<Record, Status>,
): Promise<ScheduleRun<Status>> {
  const settled: { id: string; status: Status }[] = [];
  const errors: { id: string; error: unknown }[] = [];
  let nextDueAt = Number.POSITIVE_INFINITY;
  const seen = new Set<string>();
  let last: Record | undefined;
  for (;;) {
    const page = await context.store.read((reader) => kind.next(reader, last));
    for (const record of page) {
      const { id, dueAt } = record;
      seen.add(id);
      // A record with a damaged time is never due.
      if (!isTime(dueAt)) continue;
      const dueNow = Math.max(dueAt, retryOf(attempts.get(id), context.now()));
      if (dueNow > context.now()) {
        nextDueAt = Math.min(nextDueAt, dueNow);
        continue;
      }
      context.assertWritable();
      const { status, error } = await runOne(context, record, { attempts, kind });
      if (status !== undefined) settled.push({ id, status });
      if (error !== undefined) errors.push({ id, error });
      nextDueAt = Math.min(nextDueAt, attempts.get(id)?.retryAt ?? nextDueAt);
    }
    last = page.at(-1);
    // Sorted by due time: those after one that is not due are not due either.
    if (last !== undefined && (last.dueAt ?? 0) <= context.now()) continue;
    // Forget those that were settled elsewhere.
    for (const id of attempts.keys()) if (!seen.has(id)) attempts.delete(id);
    return { settled, errors, ...(nextDueAt === Number.POSITIVE_INFINITY ? {} : { nextDueAt }) };
  }
}

/** When a record is retried; at once if the clock was ahead when that was planned. */
function retryOf({ retryAt } = { retryAt: 0 }, now: number): number {
  const { most, pauseMs } = SCHEDULE_ATTEMPTS;
  return retryAt <= now + pauseMs * 2 ** most ? retryAt : 0;
}

/** Runs one record; without a status when another node moved it, or it will be retried. */
async function runOne<Record extends Due, Status extends string>(
  context: ManagementContext,
  record: Record,
  { attempts, kind }: { readonly attempts: FailedAttempts; readonly kind: Kind<Record, Status> },
): Promise<{ readonly status?: Status; readonly error?: unknown }> {
  const { id } = record;
  const at = context.now();
  const fail = async (outcome: string) => {
    const status = await kind.fail(record, outcome);
    attempts.delete(id);
    return defined({ status });
  };
  try {
    const status = await kind.run(record);
    attempts.delete(id);
    return { status };
  } catch (error) {
    if (error instanceof AlreadySettled) {
      attempts.delete(id);
      return {};
    }
    if (error instanceof ServiceError && error.code !== 'internal_error') return fail(error.message);
    if (error instanceof StoreOutage || error instanceof ServiceError) throw error;
    const count = (attempts.get(id)?.count ?? 0) + 1;
    const { most, pauseMs } = SCHEDULE_ATTEMPTS;
    // A busy store is retried without limit: the other writer ends. Any other error is one of the change.
    if (count >= most && !(error instanceof StoreBusy)) {
      return {
        ...(await fail(
          `The change failed ${most} times with an unexpected error. An administrator can find it in the server log.`,
        )),
        error,
      };
    }
    attempts.set(id, { count, retryAt: at + pauseMs * 2 ** (Math.min(count, most) - 1) });
    return { error };
  }
}
