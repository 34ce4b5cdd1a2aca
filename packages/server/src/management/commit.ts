import type { Actor } from '../domain/audit.ts';
import type { StoreTransaction } from '../domain/store.ts';
import type { ManagementContext } from './context.ts';

/** Runs one management operation as one transaction and gives its result once this node has applied it. */
export async function commit<T>(
  context: ManagementContext,
  actor: Actor,
  work: (transaction: StoreTransaction) => Promise<T>,
): Promise<T> {
  context.assertWritable();
  const { result, seq } = await context.store.commit(actor, work);
  if (seq !== undefined) await context.waitForApplied(seq);
  return result;
}
