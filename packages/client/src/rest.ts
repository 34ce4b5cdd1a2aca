import { REVISION_HEADER, STALE_HEADER } from '@halyard/protocol';
import { isRecord, type ParsedFlags, readFlags } from './flags.ts';
import { readJson, readRevision, send } from './request.ts';
import type { Target } from './target.ts';

/** The answer to a read of all flags. */
export interface Loaded {
  /** Absent when nothing has changed since the answer with the given `ETag`. */
  readonly parsed: ParsedFlags | undefined;
  readonly revision: number | undefined;
  readonly etag: string | null;
  /** `false` when the node said that it cannot know whether this is current. */
  readonly isCurrent: boolean;
  /** For how long the answer keeps the map current, in milliseconds. */
  readonly freshMs: number;
}

/** Loads all flags of the environment, unless they are those with the given `ETag`. Throws a `FlagsError`. */
export type Load = (target: Target, controller: AbortController, etag?: string | null) => Promise<Loaded>;

/** Loads them from a node. (Spec: S4.1) */
export const loadFlags: Load = async (target, controller, etag) => {
  const response = await send(target, 'flags?', controller, etag);
  const { status, headers } = response;
  const isUnchanged = status === 304;
  const body = isUnchanged ? undefined : await readJson(target, response, controller);
  // An answer for another environment is refused.
  const isOurs = isRecord(body) && (body.environment ?? target.environment) === target.environment;
  return {
    parsed: isUnchanged ? undefined : readFlags(isOurs && body.flags),
    revision: readRevision(headers.get(REVISION_HEADER)),
    etag: headers.get('ETag'),
    isCurrent: !headers.has(STALE_HEADER),
    freshMs: target.staleAfterMs + 2 * target.pollIntervalMs,
  };
};
