import { hostname } from 'node:os';
import type { PreparedStart } from './first-start.ts';

/** A node that listens. */
export interface RunningNode {
  /** Where this machine reaches it. */
  readonly url: string;
  /** Where this machine manages it: differs from `url` only where management has a port of its own. */
  readonly managementUrl: string;
  /** Resolves when the node has stopped. */
  readonly closed: Promise<void>;
  /** Where people reach the dashboard. */
  readonly dashboardUrl: string;
  /** Whether it has its data and follows every change; not while the database is away. */
  isReady(): boolean;
  /** The records that the first start created; their secrets are shown once. */
  prepared(): PreparedStart;
  /** Drains and stops: unready, streams closed spread over the drain window, requests finished. Safe to call twice. */
  stop(): Promise<void>;
}

/** Callbacks of a node that starts. */
export interface NodeOptions {
  /** Called when the database came within reach only after the start, once the first start has been prepared. */
  readonly onLateStart?: (node: RunningNode) => void;
}

/** The `stop` of a node, which runs once however often it is called, and the promise of its end. */
export function stoppable(run: () => Promise<void>): Pick<RunningNode, 'closed' | 'stop'> {
  const closed = Promise.withResolvers<void>();
  let stopping: Promise<void> | undefined;
  const stop = () => {
    stopping ??= run().then(closed.resolve);
    return stopping;
  };
  return { closed: closed.promise, stop };
}

/**
 * A name for this process among the nodes of an installation: the host name, for people, and a random part, because
 * several processes may share a host, and because a restarted process does not have the streams of the earlier one.
 */
export function newNodeName(): string {
  const random = crypto.getRandomValues(new Uint8Array(4)).toHex();
  // In reports of relays, names have these characters only, and are not longer. (evaluation/log/reports.ts)
  const host = hostname()
    .replace(/[^\w.-]/g, '-')
    .slice(0, 80);
  return `${host}-${random}`;
}
