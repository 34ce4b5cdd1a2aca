import { Connection } from './connection.ts';
import type { Fetch } from './platform.ts';
import type { Target } from './target.ts';

interface Entry {
  readonly connection: Connection;
  users: number;
}

/** Open connections by the `fetch` they use and by what they do. A key is held here only while a client holds it too. */
const open = new WeakMap<Fetch, Map<string, Entry>>();

/** A client's hold on a connection. */
export interface Lease {
  readonly connection: Connection;
  /** Gives it back; the last client to do so closes it. Call once. */
  readonly release: () => void;
}

/**
 * Gives the connection to a target: the one other clients of this process use, if there is one. Manual clients get
 * their own: some runtimes forbid one request to wait for another's.
 */
export function acquireConnection(target: Target): Lease {
  if (target.mode === 'manual') {
    const connection = new Connection(target);
    return { connection, release: () => connection.close() };
  }
  const { platform, redact: _, ...facts } = target;
  const id = JSON.stringify(facts);
  const entries = open.get(platform.fetch) ?? new Map<string, Entry>();
  open.set(platform.fetch, entries);
  const entry = entries.get(id) ?? { connection: new Connection(target), users: 0 };
  entries.set(id, entry);
  entry.users++;
  const release = () => {
    if (--entry.users > 0) return;
    entries.delete(id);
    entry.connection.close();
  };
  return { connection: entry.connection, release };
}
