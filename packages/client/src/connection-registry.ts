import { type Connection, createConnection } from './connection.ts';
import type { Fetch } from './platform.ts';
import type { Target } from './target.ts';

/** Open connections by the `fetch` they use and by what they do. A key is held here only while a client holds it too. */
const open = new WeakMap<Fetch, Map<string, [connection: Connection, users: number]>>();

/** A client's hold on a connection: the connection, and what gives it back. The last one to do so closes it. */
export type Lease = readonly [connection: Connection, release: () => Promise<void> | undefined];

/**
 * Gives the connection to a target: the one other clients of this process use, if there is one. Manual clients get
 * their own: some runtimes forbid one request to wait for another's.
 */
export function acquireConnection(target: Target): Lease {
  const { platform, headers, mode } = target;
  const entries = (mode !== 'manual' && open.get(platform.fetch)) || new Map();
  if (mode !== 'manual') open.set(platform.fetch, entries);
  const id = JSON.stringify([{ ...target, platform: 0 }, [...headers]]);
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
