import type { Logger } from 'pino';
import type { ErrorContext } from '../../http/errors.ts';
import type { ReadPlane } from '../read-plane.ts';
import { RateLimiter } from './rate-limiter.ts';

/** Settings of the evaluation interface. */
export interface EvaluationSettings {
  /** Requests per second and project key; absent for no limit. (Spec: S8.1) */
  readonly rateLimit?: number;
  /** Streams one key may hold open; absent for no limit. */
  readonly maxStreamsPerKey?: number;
  /** Origins whose pages may read flags; absent for none, because the key is a secret. */
  readonly corsOrigins?: readonly string[];
  /** Whether a proxy in front says, in `X-Forwarded-Prefix`, which path it removes. Default: no. */
  readonly trustProxy?: boolean;
}

/** The parts of a node that the evaluation API uses. */
export interface EvaluationContext
  extends Pick<ReadPlane, 'catalog' | 'hub' | 'freshness' | 'counters' | 'files' | 'usage'> {
  readonly docsUrl: string;
  readonly log: Logger;
  readonly rateLimiter: RateLimiter | undefined;
  readonly maxStreamsPerKey: number;
  /** How many streams other processes of this machine hold open with a key, by its public id. */
  readonly streamsElsewhere: (keyId: string) => number;
  readonly corsOrigins: ReadonlySet<string>;
  readonly trustProxy: boolean;
}

/** What tells one interface of the read plane from another. */
export interface Dialect {
  /** The project key that a request carries; `null` without one. */
  readonly keyOf: (request: Request) => string | null;
  /** Where a request may carry it, for messages. */
  readonly keyPlaces: string;
  /** The headers that pages of listed origins may send. */
  readonly requestHeaders: readonly string[];
  /** Answers with an error. */
  readonly refuse: (error: unknown, context: ErrorContext, request: Request) => Response;
}

/** The context of one interface. */
export interface InterfaceContext extends EvaluationContext {
  readonly dialect: Dialect;
}

/** The context of the evaluation interface over a read plane. */
export function evaluationContext(
  { catalog, hub, freshness, counters, files, usage }: ReadPlane,
  settings: EvaluationSettings &
    Pick<EvaluationContext, 'docsUrl' | 'log'> &
    Partial<Pick<EvaluationContext, 'streamsElsewhere'>>,
): EvaluationContext {
  const { docsUrl, log, rateLimit, maxStreamsPerKey = Number.POSITIVE_INFINITY } = settings;
  const { corsOrigins, trustProxy = false } = settings;
  return {
    catalog,
    hub,
    freshness,
    counters,
    files,
    usage,
    docsUrl,
    log,
    rateLimiter: rateLimit === undefined ? undefined : new RateLimiter(rateLimit),
    maxStreamsPerKey,
    streamsElsewhere: settings.streamsElsewhere ?? (() => 0),
    corsOrigins: new Set(corsOrigins),
    trustProxy,
  };
}
