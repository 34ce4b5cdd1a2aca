/** The requests and answers of OFREP, the OpenFeature Remote Evaluation Protocol, for the server and for handlers. */
import { defined } from './defined.ts';
import { evaluate, readTargetingKey } from './evaluate.ts';
import { type FlagMap, type FlagState, isRecord } from './flag-state.ts';
import type { Json } from './json.ts';
import { frame } from './sse.ts';

/** Greatest size of an OFREP request's body, in bytes. */
export const MAX_OFREP_BYTES = 256 * 1024;

/** The OpenFeature error codes that OFREP answers with. A closed set: codes of our own do not belong here. */
export type OfrepErrorCode =
  | 'PARSE_ERROR'
  | 'INVALID_CONTEXT'
  | 'TARGETING_KEY_MISSING'
  | 'FLAG_NOT_FOUND'
  | 'GENERAL';

/** The HTTP status of each error code for a read of one flag. A bulk read answers 200 and lists the error instead of the flag. */
export const OFREP_ERROR_STATUS: Readonly<Record<OfrepErrorCode, number>> = {
  PARSE_ERROR: 400,
  INVALID_CONTEXT: 400,
  TARGETING_KEY_MISSING: 400,
  FLAG_NOT_FOUND: 404,
  GENERAL: 400,
};

/** A flag that was evaluated. */
export interface OfrepSuccess {
  readonly key: string;
  /** Absent: the default in the caller's code counts. */
  readonly value?: Json;
  readonly reason: 'STATIC' | 'SPLIT' | 'DISABLED';
  readonly variant: 'on' | 'off';
  readonly metadata: OfrepMetadata;
}

/** A flag that could not be evaluated. */
export interface OfrepFailure {
  readonly key: string;
  readonly errorCode: OfrepErrorCode;
  readonly errorDetails: string;
  /** Absent when the flag does not exist. */
  readonly metadata?: OfrepMetadata;
}

/** The circumstances of one flag. Flat, as OpenFeature wants it. */
export interface OfrepMetadata {
  readonly environment: string;
  readonly enabled: boolean;
  readonly rolloutPct?: number;
}

/** The address of a stream that reports changes (OFREP ADR-0008): exactly one of `url` and `endpoint`. */
export interface OfrepEventStream {
  readonly type: 'sse';
  readonly url?: string;
  /** Without `origin`, the origin of the provider's base address. */
  readonly endpoint?: { readonly origin?: string; readonly requestUri: string };
  /** Seconds in the background after which a page closes the stream. */
  readonly inactivityDelaySec?: number;
}

/** The body of a bulk evaluation. */
export interface OfrepBulk {
  readonly flags: readonly (OfrepSuccess | OfrepFailure)[];
  readonly eventStreams?: readonly OfrepEventStream[];
  readonly metadata: { readonly environment: string; readonly revision?: number };
}

/** For whom, and in which environment, flags are evaluated. */
export interface OfrepTarget {
  readonly environment: string;
  readonly targetingKey: string | undefined;
}

/** Evaluates one flag for OFREP and OpenFeature. `state` is `undefined` for a flag that does not exist. */
export function evaluateOfrep(
  key: string,
  state: FlagState | undefined,
  { environment, targetingKey }: OfrepTarget,
): OfrepSuccess | OfrepFailure {
  const { isOn, value, reason } = evaluate(key, state, targetingKey);
  if (!state)
    return {
      key,
      errorCode: 'FLAG_NOT_FOUND',
      errorDetails: `The flag ${key} does not exist in ${environment}.`,
    };
  const { enabled, rolloutPct } = state;
  const metadata = rolloutPct === undefined ? { environment, enabled } : { environment, enabled, rolloutPct };
  if (reason === 'untargeted')
    return {
      key,
      errorCode: 'TARGETING_KEY_MISSING',
      errorDetails: `The flag ${key} has a partial rollout: send a targetingKey in the context.`,
      metadata,
    };
  const answer = {
    key,
    reason: reason === 'static' ? 'STATIC' : reason === 'split' ? 'SPLIT' : 'DISABLED',
    variant: isOn ? 'on' : 'off',
    metadata,
  } as const;
  if (isOn) return { ...answer, value: value === undefined ? true : value };
  // Off means `false` for boolean flags only; for others the default in the caller's code counts.
  const isBoolean = state.value === undefined || typeof state.value === 'boolean';
  return isBoolean ? { ...answer, value: false } : answer;
}

/** Evaluates every flag of a map for one target: the body of a bulk read. */
export function evaluateOfrepBulk(
  flags: FlagMap,
  target: OfrepTarget,
  {
    revision,
    eventStreams,
  }: { readonly revision?: number | undefined } & Pick<OfrepBulk, 'eventStreams'> = {},
): OfrepBulk {
  return {
    flags: Object.entries(flags).map(([key, state]) => evaluateOfrep(key, state, target)),
    ...defined({ eventStreams }),
    metadata: defined({ environment: target.environment, revision }),
  };
}

/** The targeting key in a request's body, or the error that answers it. */
export type OfrepRequest =
  | { readonly ok: true; readonly targetingKey: string | undefined }
  | { readonly ok: false; readonly errorCode: OfrepErrorCode; readonly errorDetails: string };

/**
 * Reads the body of an OFREP request. Only the targeting key counts; other members of the context are ignored. A
 * context or targeting key that is `null`, as some providers send it, counts as absent, and a number as its text.
 */
export function parseOfrepRequest(text: string): OfrepRequest {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    return refusal(
      'PARSE_ERROR',
      'The body is not valid JSON: send { "context": { "targetingKey": string } }.',
    );
  }
  if (!isRecord(data))
    return refusal('INVALID_CONTEXT', 'The body is not a JSON object: send { "context": { … } }.');
  const context = data.context ?? {};
  if (!isRecord(context))
    return refusal('INVALID_CONTEXT', '"context" is not an object: send { "context": { … } }.');
  const targetingKey = readTargetingKey(context.targetingKey ?? undefined);
  if (targetingKey !== null) return { ok: true, targetingKey };
  return refusal('INVALID_CONTEXT', '"targetingKey" is neither text nor a number: send it as text.');
}

function refusal(errorCode: OfrepErrorCode, errorDetails: string): OfrepRequest {
  return { ok: false, errorCode, errorDetails };
}

/**
 * The event for a change: its reader reads the flags again, and passes the tag on as `flagConfigEtag`. The id is the
 * environment's revision, on every node.
 */
export function ofrepEvent(revision: number): string {
  const data = { type: 'refetchEvaluation', etag: `"${revision}"` };
  return `id: ${revision}\n${frame(JSON.stringify(data))}`;
}

/**
 * The beginning of an event stream at a revision: the reconnection time in milliseconds, and the event of this revision.
 * A reader whose last event was this one gets only the id, which is no event.
 */
export function ofrepOpening(revision: number, lastEventId: string | null, retryMs: number): string {
  const start = lastEventId === String(revision) ? `id: ${revision}\n\n` : ofrepEvent(revision);
  return `retry: ${retryMs}\n${start}`;
}

/** The revision in a query's `flagConfigEtag`; `undefined` where it is not one of ours. */
export function flagConfigRevision(flagConfigEtag: string | null): number | undefined {
  const [, digits] = /^"(\d{1,15})"$/.exec(flagConfigEtag ?? '') ?? [];
  return digits === undefined ? undefined : Number(digits);
}
