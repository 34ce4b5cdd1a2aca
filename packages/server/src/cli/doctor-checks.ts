import { hasValidChecksum, SERVICE_KEY_HEADER } from '@halyard/protocol';
import { type ApiClient, apiPath } from './api-client.ts';
import { CliError } from './cli-error.ts';
import { describeConnectionFailure } from './connection-failure.ts';
import { readEvents } from './event-stream.ts';
import type { Fields } from './fields.ts';

/** What a check found. */
export interface Finding {
  readonly check: string;
  readonly outcome: 'ok' | 'warning' | 'failed';
  /** What was seen, and for a failure what to do. Never a secret. */
  readonly detail: string;
}

/** A project key to try, and where. */
export interface KeyToTry {
  readonly key: string;
  readonly environment: string;
}

/** How long an answer or a first frame may take, in milliseconds. */
const PATIENCE_MS = 5000;

/** How a stream is tried. */
export interface StreamCheckOptions {
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** How long the first frame may take; 5,000 ms by default. */
  readonly patienceMs?: number;
}

/** How far clocks may be apart before keys and tokens expire at surprising times, in seconds. */
const CLOCK_TOLERANCE_SECONDS = 60;

/** Whether the server answers at all, and whether its clock agrees with this one. */
export async function checkServer(url: string, now: () => number): Promise<Finding[]> {
  const startedAt = now();
  const response = await get(url, '/healthz');
  if (typeof response === 'string') return [{ check: 'server', outcome: 'failed', detail: response }];
  if (!response.ok) {
    const detail = `${url}/healthz answered ${response.status}: is this address a Halyard server?`;
    return [{ check: 'server', outcome: 'failed', detail }];
  }
  const server: Finding = { check: 'server', outcome: 'ok', detail: `answers in ${now() - startedAt} ms` };
  return [server, ...checkClock(response, now())];
}

function checkClock(response: Response, now: number): Finding[] {
  const serverTime = Date.parse(response.headers.get('date') ?? '');
  if (Number.isNaN(serverTime)) return [];
  const seconds = Math.round(Math.abs(now - serverTime) / 1000);
  if (seconds <= CLOCK_TOLERANCE_SECONDS)
    return [{ check: 'clock', outcome: 'ok', detail: 'agrees with the server' }];
  const detail = `is ${seconds} s away from the server's: keys and tokens expire by the server's clock.`;
  return [{ check: 'clock', outcome: 'warning', detail }];
}

/** Whether the server wants traffic. */
export async function checkReadiness(url: string): Promise<Finding> {
  const response = await get(url, '/readyz');
  if (typeof response !== 'string' && response.ok)
    return { check: 'readiness', outcome: 'ok', detail: 'ready for traffic' };
  const detail = typeof response === 'string' ? response : await whyNotReady(response);
  return { check: 'readiness', outcome: 'failed', detail };
}

async function whyNotReady(response: Response): Promise<string> {
  const body: unknown = await response.json().catch(() => undefined);
  if (typeof body === 'object' && body !== null && 'reason' in body) return `is not ready: ${body.reason}`;
  return 'is not ready: its database may be away, or it is stopping. Its log says which.';
}

/** Whether the access token is good. */
export async function checkToken(client: ApiClient): Promise<Finding> {
  try {
    const { fields } = await client.request({ path: apiPath`/whoami` });
    return {
      check: 'access token',
      outcome: 'ok',
      detail: `belongs to ${fields.text('name')}${roleIn(fields)}`,
    };
  } catch (error) {
    const isElsewhere = error instanceof CliError && error.code === 'not_found';
    const detail = error instanceof Error ? error.message : String(error);
    return { check: 'access token', outcome: 'failed', detail: isElsewhere ? NOT_MANAGED_HERE : detail };
  }
}

/** Servers from before there were roles do not tell one. */
function roleIn(fields: Fields): string {
  const role = fields.optionalText('role');
  return role === undefined ? '' : `, with the role ${role}`;
}

const NOT_MANAGED_HERE =
  'cannot be tried: this address has no management API. Where it has a port of its own, give that one with --url, ' +
  'and this one with --read-url.';

/** Whether the project key reads the environment. */
export async function checkKey(url: string, { key, environment }: KeyToTry): Promise<Finding> {
  const check = 'project key';
  if (!/^[\x21-\x7e]+$/.test(key)) return { check, outcome: 'failed', detail: NO_KEY };
  const response = await get(url, `/v1/flags?env=${encodeURIComponent(environment)}`, key);
  if (typeof response === 'string') return { check, outcome: 'failed', detail: response };
  if (response.ok) return { check, outcome: 'ok', detail: `reads ${environment}` };
  if ((await errorCodeOf(response)) === 'not_found')
    return { check, outcome: 'failed', detail: NOT_READ_HERE };
  const reasons: Readonly<Record<number, string>> = {
    401: hasValidChecksum(key)
      ? 'is refused: it is revoked, expired, or of another server.'
      : 'is refused, and its checksum is wrong: it was mistyped or cut off.',
    404: `does not open ${environment}: name an environment it was made for with --env.`,
  };
  return { check, outcome: 'failed', detail: reasons[response.status] ?? `got ${response.status}.` };
}

/** Such a text could not even be sent, or not as it is. */
const NO_KEY = 'is empty or holds characters that no key has: copy it again, whole and without spaces.';

const NOT_READ_HERE =
  'cannot be tried: this address serves no flags, only their management. Say with --read-url where they are read.';

/** The code in an error's body; `undefined` where the answer is of another kind. */
async function errorCodeOf(response: Response): Promise<unknown> {
  const body: unknown = await response.json().catch(() => undefined);
  return typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
}

/** Whether a stream opens and its first frame arrives at once, or something on the way holds it back. */
export async function checkStream(url: string, key: KeyToTry, options: StreamCheckOptions): Promise<Finding> {
  const startedAt = options.now();
  const stop = new AbortController();
  const patience = setTimeout(() => stop.abort(), options.patienceMs ?? PATIENCE_MS);
  try {
    const problem = await findStreamProblem(url, key, stop.signal);
    if (problem !== undefined) return { check: 'stream', outcome: 'failed', detail: problem };
    const detail = `the first frame came after ${options.now() - startedAt} ms`;
    return { check: 'stream', outcome: 'ok', detail };
  } finally {
    clearTimeout(patience);
    stop.abort();
  }
}

/** Reads up to the first frame; `undefined` when it came. */
async function findStreamProblem(
  url: string,
  key: KeyToTry,
  signal: AbortSignal,
): Promise<string | undefined> {
  const address = `${url}/v1/stream?env=${encodeURIComponent(key.environment)}`;
  const headers = { [SERVICE_KEY_HEADER]: key.key, accept: 'text/event-stream' };
  let hasBegun = false;
  try {
    const response = await fetch(address, { headers, redirect: 'error', signal });
    hasBegun = response.ok;
    if (!response.ok || response.body === null) return `was answered ${response.status}.`;
    for await (const _frame of readEvents(response.body, () => {})) return undefined;
    return 'ended before its first frame.';
  } catch (error) {
    if (signal.aborted) return hasBegun ? HELD_BACK : NO_ANSWER;
    return describeConnectionFailure(error, { url, timeoutMs: PATIENCE_MS, isWrite: false });
  }
}

const HELD_BACK =
  'began, but its first frame did not come: a proxy on the way collects the answer. ' +
  'Switch its buffering off for /v1/stream.';
const NO_ANSWER =
  'got no answer: a proxy on the way collects it, or does not pass it on. Switch its buffering off for /v1/stream.';

/**
 * Gives the response, or where there is none a sentence that says why. Of a refusal the body can be read, of anything
 * else only the head.
 */
async function get(url: string, path: string, key?: string): Promise<Response | string> {
  try {
    const headers: Record<string, string> = key === undefined ? {} : { [SERVICE_KEY_HEADER]: key };
    const response = await fetch(url + path, {
      headers,
      redirect: 'error',
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    if (response.ok) await response.body?.cancel();
    return response;
  } catch (error) {
    return describeConnectionFailure(error, { url, timeoutMs: PATIENCE_MS, isWrite: false });
  }
}
