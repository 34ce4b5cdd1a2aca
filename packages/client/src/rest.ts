import { STALE_HEADER } from '@halyard/protocol';
import { FlagsError } from './errors.ts';
import { isRecord, type ParsedFlags, readFlags } from './flags.ts';
import { readJson, revisionOf, send } from './request.ts';
import type { Target } from './target.ts';

/** The answer to a read of all flags. */
export interface Loaded {
  /** Absent when nothing has changed since the answer with the given `ETag`. */
  readonly parsed?: ParsedFlags;
  readonly revision: number | undefined;
  readonly etag: string | undefined;
  /** Whether the node said that it cannot know whether this is current. */
  readonly isStale: boolean;
}

/** How much longer than the headers the body may take. */
const BODY_FACTOR = 6;

/** Reads all flags of the environment. Throws a `FlagsError`. (Spec: GET /v1/flags) */
export async function loadFlags(target: Target, controller: AbortController, etag?: string): Promise<Loaded> {
  const response = await send(target, { path: '/v1/flags', accept: 'application/json', controller, etag });
  const answer = {
    revision: revisionOf(response),
    etag: response.headers.get('ETag') ?? undefined,
    isStale: response.headers.has(STALE_HEADER),
  };
  if (response.status === 304) {
    if (etag) return answer;
    throw new FlagsError('invalid_response', 'the server answered 304 to a question that had no condition');
  }
  const cancel = target.platform.setTimer(
    () => controller.abort(new FlagsError('timeout', 'the flags took too long to arrive')),
    target.requestTimeoutMs * BODY_FACTOR,
  );
  try {
    const body = await readJson(response, controller.signal);
    const isOurs = isRecord(body) && (body.environment ?? target.environment) === target.environment;
    const parsed = isOurs ? readFlags(body.flags) : undefined;
    if (!parsed) throw new FlagsError('invalid_response', 'the answer holds no flags of this environment');
    return { ...answer, parsed };
  } finally {
    cancel();
  }
}
