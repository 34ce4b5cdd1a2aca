import type { FirstStart } from '../management/first-start/demo.ts';

/** A node that listens. */
export interface RunningNode {
  /** Where this machine reaches it. */
  readonly url: string;
  /** Where this machine manages it: differs from `url` only where management has a port of its own. */
  readonly managementUrl: string;
  /** Resolves when the node has stopped. */
  readonly closed: Promise<void>;
  /** The demo project of the first start on an empty database. Its key is shown once. */
  readonly firstStart?: FirstStart;
  /** Where people reach the dashboard. */
  readonly dashboardUrl: string;
  /** Whether it has its data and follows every change; not while the database is away. */
  readonly isReady: boolean;
  /** Whether nobody can sign in to the dashboard yet. */
  readonly needsOperator: boolean;
  /** The one-time link for the first administrator, while there is none; shown once. Never made for a log. */
  readonly setupLink?: string;
  /** Drains and stops: unready, streams closed spread over the drain window, requests finished. Safe to call twice. */
  stop(): Promise<void>;
}

/** Callbacks of a node that starts. */
export interface NodeOptions {
  /** Called when the database came within reach only after the start, once the first start has been prepared. */
  readonly onLateStart?: (node: RunningNode) => void;
}
