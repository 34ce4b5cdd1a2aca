import { CLOCK_TOLERANCE_MS } from '../domain/clock.ts';
import { chunks } from './rows.ts';
import type { Store } from './store.ts';

/** Uses that one transaction stores: nothing else can write during it. */
const USES_AT_ONCE = 500;

/** The tables of credentials of which the last use is kept. */
export type UsedTable = 'project_keys' | 'access_tokens' | 'relay_tokens';

/** Stores when credentials were last used, in epoch milliseconds. Not a change: no log row, no audit row. */
export async function storeLastUse(
  store: Pick<Store, 'unlogged'>,
  table: UsedTable,
  lastUsed: Iterable<readonly [id: string, at: number]>,
): Promise<void> {
  for (const uses of chunks(lastUsed, USES_AT_ONCE)) {
    // In order of ids, so that two nodes that note the same keys do not wait for each other.
    uses.sort(([a], [b]) => (a < b ? -1 : 1));

    await store.unlogged(async (tx) => {
      for (const [id, at] of uses) {
        await tx.query(
          `UPDATE ${table} SET last_used_at = $1
            WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $1 OR last_used_at > $3)`,
          [at, id, at + CLOCK_TOLERANCE_MS],
        );
      }
    });
  }
}
