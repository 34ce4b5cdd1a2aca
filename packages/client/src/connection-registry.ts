import { type Connection, createConnection } from './connection.ts';
import type { Fetch } from './platform.ts';
import type { Target } from './target.ts';

/** Open connections by `fetch` and by target. A project key is kept here only as long as a client has it. */
const open = new WeakMap<Fetch, Map<unknown, [connection: Connection, users: number]>>();

/** A lease of a shared connection. The last release closes it. */
export type Lease = readonly [connection: Connection, release: () => Promise<void> | undefined];

/**
 * Leases the connection to a target, which clients of this process share. Manual clients do not share, because some runtimes
 * forbid one request to wait for another's.
 */
export function acquireConnection(target: Target): Lease {
  const { platform, headers, mode } = target;
  const entries = open.get(platform.fetch) ?? new Map();
  open.set(platform.fetch, entries);

  const id = mode === 'manual' ? {} : JSON.stringify([{ ...target, platform: 0 }, [...headers]]);
  const entry = entries.get(id) ?? [createConnection(target), 0];
  entries.set(id, entry);
  entry[1]++;

  return [
    entry[0],
    () => {
      if (--entry[1] > 0) return;
      entries.delete(id);
      return entry[0].close();
    },
  ];
}
