import type { Logger } from 'pino';
import type { Catalog } from '../catalog/catalog.ts';
import type { Hub } from '../streaming/hub.ts';
import type { EvaluationCounters } from './counters.ts';
import type { RateLimiter } from './rate-limiter.ts';

/** How current this node's catalog is. */
export interface Freshness {
  /** Whether reads may be answered: a snapshot is there and not older than the configured limit. */
  canRead(): boolean;
  /** Whether streams may be opened: every change will be seen, and the node is not on its way out. */
  canStream(): boolean;
  /** Whole seconds since the catalog was last known to be current; `undefined` while it is. */
  staleSeconds(): number | undefined;
}

/** What the evaluation interface is made of. */
export interface EvaluationContext {
  readonly catalog: Catalog;
  readonly hub: Hub;
  readonly freshness: Freshness;
  readonly docsUrl: string;
  readonly log: Logger;
  readonly counters: EvaluationCounters;
  /** Absent where rate limiting is off, as it is by default. (Spec: Limits 1) */
  readonly rateLimiter?: RateLimiter;
  /** Streams one key may hold open; absent for no limit. */
  readonly maxStreamsPerKey?: number;
  /** Origins whose pages may call `/v1`; empty by default, because the key is a secret. */
  readonly corsOrigins: ReadonlySet<string>;
}
