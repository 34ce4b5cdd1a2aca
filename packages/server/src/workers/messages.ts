import type { DeliveryProgress } from '../domain/delivery.ts';
import type { EnvironmentUsage } from '../domain/usage.ts';

/** How many streams each key holds open, or how many of its requests passed, by the key's public id. */
export type KeyCounts = readonly (readonly [keyId: string, count: number])[];

/** How many streams are open, by environment and then by key. */
export type StreamCounts = readonly (readonly [environmentId: string, byKey: KeyCounts])[];

/** What the supervisor asks a worker for. */
export interface Answers {
  /** Its metrics, as prom-client has them. */
  readonly metrics: readonly object[];
  /** The public ids of the keys used since the last question. */
  readonly usedKeys: readonly string[];
}

/** The name of a question. */
export type Question = keyof Answers;

/** What happened in a worker since its last report; members without news are absent. */
export interface WorkerReport {
  /** The last row of the log that it applied. */
  readonly applied?: number;
  readonly progress?: readonly DeliveryProgress[];
  /** All its streams. */
  readonly streams?: StreamCounts;
  /** Requests that passed the rate limit. */
  readonly passed?: KeyCounts;
  /** Reads of flags, as clients report them. */
  readonly usage?: readonly EnvironmentUsage[];
}

/** What another worker of the machine did, for limits that all share. */
export interface PeerReport {
  /** Which process it was. */
  readonly from: number;
  /** Its streams by key; replaces what was known. */
  readonly streams?: KeyCounts;
  readonly passed?: KeyCounts;
}

/** A message of the supervisor, on the channel between the two processes. */
export type ToWorker =
  /** The first one. The settings are the composition's own (`nodes/worker.ts`). */
  | { readonly kind: 'start'; readonly settings: object }
  /** Listen, as soon as row `seq` is applied. */
  | { readonly kind: 'listen'; readonly seq: number }
  | { readonly kind: 'ping' }
  /** The supervisor follows the log again. */
  | { readonly kind: 'retry' }
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  | ({ readonly kind: 'peer' } & PeerReport)
  | { readonly kind: 'drain'; readonly windowMs: number }
  | { readonly kind: 'stop' };

/** A message of a worker. */
export type FromWorker =
  /** The first attempt to follow the log is over. */
  | { readonly kind: 'ready'; readonly isLive: boolean; readonly seq: number }
  | { readonly kind: 'listening' }
  /** It cannot listen; the message says why. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Answers a ping, and says that it follows the log or has lost it. */
  | { readonly kind: 'alive'; readonly isLive: boolean }
  | ({ readonly kind: 'report' } & WorkerReport)
  | { readonly kind: 'answer'; readonly id: number; readonly answer: Answers[Question] }
  | { readonly kind: 'drained' }
  /** The last one, with what is still to be added up. */
  | ({ readonly kind: 'stopped' } & Answers);
