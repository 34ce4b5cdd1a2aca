/** What a refusal says. Loaded when a server refuses; imports only types, so that it is a chunk of its own. */
import type { FlagErrorCode, FlagsErrorDetails } from './errors.ts';
import type { Target } from './target.ts';

/** What a status says when the body names no code. */
const CODES: Readonly<Record<number, FlagErrorCode>> = {
  400: 'invalid_argument',
  401: 'invalid_api_key',
  429: 'rate_limited',
};

/** The arguments of the error for an answer that is not 200; `body` is its JSON, if it could be read. (Spec: S7.1) */
export function describeRefusal(
  { redact, platform }: Target,
  { status, headers }: Response,
  body: unknown,
): [FlagErrorCode, string, FlagsErrorDetails] {
  const { error, message, docs }: Readonly<Record<string, unknown>> = Object(body); // without members, unless it has them
  const retryInMs = parseRetryAfter(headers.get('Retry-After'), platform.wallClock());

  const code =
    typeof error === 'string' && /^[a-z_]{1,64}$/.test(error)
      ? error
      : (CODES[status] ?? (status < 500 ? 'invalid_response' : 'internal_error'));

  const short = (text: unknown) => (typeof text === 'string' ? redact(text).slice(0, 500) : '');
  return [
    code,
    short(message) || `the server answered ${status}`,
    {
      status,
      ...(docs !== undefined && { docs: short(docs) }),
      ...(retryInMs !== undefined && { retryInMs }),
    },
  ];
}

/** `Retry-After` in milliseconds, cut, from seconds or an HTTP date; `undefined` when absent or not understood. */
export function parseRetryAfter(text: string | null, wallClockMs: number): number | undefined {
  /** A longer `Retry-After` is cut to this: no server may switch a client off. */
  const MAX_RETRY_AFTER_MS = 3_600_000;
  const ms = /^\s*\d+\s*$/.test(text ?? '') ? Number(text) * 1_000 : Date.parse(text ?? '') - wallClockMs;
  return ms >= 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : undefined;
}
