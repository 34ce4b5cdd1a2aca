import type { Actor } from '../domain/audit.ts';
import type { Committed, StoreTransaction } from '../domain/store.ts';
import type { ManagementContext } from './context.ts';

/** A record after a write. */
export type Written<T extends object> = T & {
  /** The number of the change in the log; absent when nothing changed. */
  readonly seq?: number;
};

/** Runs one management operation as one transaction and returns its result once this node has applied it. */
export async function write<T>(
  context: ManagementContext,
  actor: Actor,
  work: (transaction: StoreTransaction) => Promise<T>,
): Promise<T> {
  return (await applyWrite(context, actor, work)).result;
}

/** As {@link write}, with the number of the change in the result. */
export async function writeRecord<T extends object>(
  context: ManagementContext,
  actor: Actor,
  work: (transaction: StoreTransaction) => Promise<T>,
): Promise<Written<T>> {
  const { result, seq } = await applyWrite(context, actor, work);
  return seq === undefined ? result : { ...result, seq };
}

/** As {@link write}, for a command that leaves no record: returns the number of the change. */
export function writeDone(
  context: ManagementContext,
  actor: Actor,
  work: (transaction: StoreTransaction) => Promise<void>,
): Promise<Written<object>> {
  return writeRecord(context, actor, async (transaction) => {
    await work(transaction);
    return {};
  });
}

async function applyWrite<T>(
  context: ManagementContext,
  actor: Actor,
  work: (transaction: StoreTransaction) => Promise<T>,
): Promise<Committed<T>> {
  context.assertWritable();
  const committed = await context.store.commit(actor, work);
  if (committed.seq !== undefined) await context.waitForApplied(committed.seq);
  return committed;
}
