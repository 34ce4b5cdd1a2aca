import type { Logger } from 'pino';
import type { ReadPlane } from '../read-plane.ts';
import { RateLimiter } from './rate-limiter.ts';

/** Settings of the evaluation interface. */
export interface EvaluationSettings {
  /** Requests per second and project key; absent for no limit. (Spec: Limits 1) */
  readonly rateLimit?: number;
  /** Streams one key may hold open; absent for no limit. */
  readonly maxStreamsPerKey?: number;
  /** Origins whose pages may call `/v1`; absent for none, because the key is a secret. */
  readonly corsOrigins?: readonly string[];
}

/** The parts of a node that the evaluation API uses. */
export interface EvaluationContext extends Pick<ReadPlane, 'catalog' | 'hub' | 'freshness' | 'counters'> {
  readonly docsUrl: string;
  readonly log: Logger;
  readonly rateLimiter: RateLimiter | undefined;
  readonly maxStreamsPerKey: number;
  readonly corsOrigins: ReadonlySet<string>;
}

/** The context of the evaluation interface over a read plane. */
export function evaluationContext(
  { catalog, hub, freshness, counters }: ReadPlane,
  settings: EvaluationSettings & Pick<EvaluationContext, 'docsUrl' | 'log'>,
): EvaluationContext {
  const { docsUrl, log, rateLimit, maxStreamsPerKey = Number.POSITIVE_INFINITY, corsOrigins } = settings;
  return {
    catalog,
    hub,
    freshness,
    counters,
    docsUrl,
    log,
    rateLimiter: rateLimit === undefined ? undefined : new RateLimiter(rateLimit),
    maxStreamsPerKey,
    corsOrigins: new Set(corsOrigins),
  };
}
