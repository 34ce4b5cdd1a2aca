import type { Cursor, LogHistory, LogSource, OpenOptions } from '../../domain/change-log.ts';
import { StorageError, StoreOutage } from '../../domain/errors.ts';
import { MessageReader } from './framing.ts';
import {
  BEHIND,
  BUSY,
  CLOCK_PATH,
  LOG_PATH,
  LOG_TYPE,
  LOG_VERSION,
  LogProtocolError,
  REPORTS_PATH,
  SILENCE_MS,
} from './messages.ts';
import { RemoteSession, type SessionLimits } from './remote-session.ts';
import type { ReportBody } from './reports.ts';

/** Where a {@link RemoteLog} is. */
export interface RemoteLogOptions {
  /** The base address of the upstream, without a trailing slash; for a Unix socket `http://localhost`. */
  readonly url: string;
  /** The path of the Unix socket to connect to. */
  readonly unix?: string;
  /** Sent as a bearer token. */
  readonly token?: string;
  /** Default: what a large installation needs. */
  readonly limits?: Partial<SessionLimits>;
}

/** Longest a report may take, in milliseconds. */
const REPORT_MS = 5000;

/** The upstream does not accept the token. */
export class TokenRefused extends StorageError {}

/** A report that says nothing. */
const EMPTY_REPORT: ReportBody = { receipts: [], nodes: [], relays: [], dropped: 0 };

/** Longest that an upstream can ask to be left alone, in milliseconds. */
const MAX_RETRY_AFTER_MS = 60_000;

/** Longest an error answer is read, in bytes. */
const MAX_ERROR_BYTES = 16 * 1024;

/** The log of another node, as a source of this one. Nothing here knows flags: rows and snapshots pass through. */
export class RemoteLog implements LogSource {
  readonly #options: RemoteLogOptions;
  /** Seals pass through; only a node with a database can read them. */
  readonly history: LogHistory = {
    seal: ({ changeId }) => changeId,
    hasLost: (cursor) => this.#askAbout('lost', cursor),
    isOver: (cursor) => this.#askAbout('over', cursor),
  };

  constructor(options: RemoteLogOptions) {
    this.#options = options;
  }

  /** Connects, and continues at the cursor if the upstream can. */
  async open(at?: Cursor, { mustReload = false, signal }: OpenOptions = {}): Promise<RemoteSession> {
    const from = mustReload ? undefined : at;
    const canceled = new AbortController();
    const cancel = () => canceled.abort();
    signal?.addEventListener('abort', cancel);

    const begunAt = performance.now();
    // The silence counts from the first moment: an address that swallows connections is as lost as a silent one.
    const timer = setTimeout(
      () => canceled.abort(new StoreOutage('the upstream did not answer')),
      SILENCE_MS,
    );

    try {
      const response = await this.#request(at, from?.scope, canceled.signal);
      await checkAnswer(response, this.#options.url);
      const reader = response.body?.getReader();
      if (reader === undefined) throw new LogProtocolError('it sent an empty answer');

      const messages = new MessageReader();
      const session = new RemoteSession({
        reader,
        messages,
        begunAt,
        canceled,
        from,
        limits: this.#options.limits,
        askTime: (stream) => this.#askTime(stream),
      });

      const hello = await session.begin();
      if (hello.version !== LOG_VERSION) {
        throw new LogProtocolError(
          `it speaks version ${hello.version} of the log protocol, and this program version ${LOG_VERSION}`,
        );
      }

      return session;
    } catch (cause) {
      canceled.abort();
      throw explain(cause, this.#options.url);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', cancel);
    }
  }

  /** Sends a report of this node to the upstream. Rejects when it was not taken. */
  async report(body: object): Promise<void> {
    const response = await this.#post(body);
    await response.body?.cancel();
    if (!response.ok) throw reportRefused(response);
  }

  /** Behind a load balancer, another node may answer, which does not know the stream. */
  async #askTime(stream: string): Promise<number | undefined> {
    try {
      const path = `${CLOCK_PATH}?${new URLSearchParams({ stream })}`;
      const response = await this.#fetch(path, { signal: AbortSignal.timeout(SILENCE_MS) });
      const body: unknown = response.ok ? await response.json() : await response.body?.cancel();
      const sentMs = typeof body === 'object' && body !== null && 'sentMs' in body ? body.sentMs : undefined;
      return typeof sentMs === 'number' && sentMs >= 0 ? sentMs : undefined;
    } catch {
      // It is asked again, and the stream itself says when the upstream is away.
      return undefined;
    }
  }

  /** Asks the upstream about a cursor; it asks its own, up to the node with the database. */
  async #askAbout(what: 'lost' | 'over', { epoch, seq, changeId }: Cursor): Promise<boolean> {
    const response = await this.#post({ ...EMPTY_REPORT, [what]: { epoch, seq, changeId } });
    const code = codeIn(await response.text());
    if (response.status === 503 && code === BEHIND) return true;
    if (!response.ok) throw reportRefused(response);
    return false;
  }

  #post(body: object): Promise<Response> {
    return this.#fetch(REPORTS_PATH, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(REPORT_MS),
    });
  }

  /** Without a scope, the upstream sends a snapshot, which is never older than the cursor. */
  #request(at: Cursor | undefined, scope: string | undefined, signal: AbortSignal): Promise<Response> {
    const query = new URLSearchParams();
    if (at !== undefined) {
      query.set('epoch', at.epoch);
      query.set('seq', String(at.seq));
      query.set('changeId', at.changeId);
      if (scope !== undefined) query.set('scope', scope);
    }
    const path = query.size === 0 ? LOG_PATH : `${LOG_PATH}?${query}`;
    // No timeout: the stream lives as long as it is followed, and the session notices silence.
    return this.#fetch(path, { headers: { Accept: LOG_TYPE }, signal, timeout: false });
  }

  #fetch(path: string, init: BunFetchRequestInit): Promise<Response> {
    const { url, unix, token } = this.#options;
    const headers = new Headers(init.headers);
    if (token !== undefined) headers.set('Authorization', `Bearer ${token}`);
    return fetch(`${url}${path}`, {
      ...init,
      headers,
      redirect: 'manual',
      ...(unix === undefined ? {} : { unix }),
    } as BunFetchRequestInit);
  }
}

function reportRefused({ status, headers }: Response): StoreOutage {
  const message = `the upstream answered a report with status ${status}`;
  return new StoreOutage(message, { retryAfterMs: retryAfterMsIn(headers) });
}

async function checkAnswer(response: Response, url: string): Promise<void> {
  const { status, headers } = response;
  if (status === 200 && headers.get('Content-Type') === LOG_TYPE) return;
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  void reader?.cancel().catch(() => {});
  const text = new TextDecoder().decode(value?.subarray(0, MAX_ERROR_BYTES));
  throw refusal({ status, code: codeIn(text), retryAfterMs: retryAfterMsIn(headers) }, url);
}

/** How long the upstream asks to be left alone, in milliseconds, in seconds as Halyard says it; at most a minute. */
function retryAfterMsIn(headers: Headers): number {
  const text = headers.get('Retry-After') ?? '';
  return /^\d{1,9}$/.test(text) ? Math.min(1000 * Number(text), MAX_RETRY_AFTER_MS) : 0;
}

/** The error code of an answer's body, if it has one. */
function codeIn(text: string): unknown {
  try {
    return JSON.parse(text)?.error;
  } catch {
    return undefined;
  }
}

/** An answer that is no log. */
interface Refusal {
  readonly status: number;
  readonly code: unknown;
  readonly retryAfterMs: number;
}

/** Why the upstream does not give its log, in one line for the operator. Text of its own is never repeated. */
function refusal({ status, code, retryAfterMs }: Refusal, url: string): Error {
  if (status === 401 && code === 'invalid_access_token')
    return new TokenRefused(`${url} refused the relay token: it is wrong or was revoked. Create another.`);
  if (status === 404)
    return new StorageError(`${url} does not offer a log: it is not Halyard, or an older version.`);
  if (status >= 300 && status < 400)
    return new StorageError(`${url} redirects. Use the address that it redirects to.`);
  if (status === 503 && code === BEHIND)
    return new StoreOutage(
      `${url} does not have the newest change of this node: it is behind, or has lost it.`,
    );
  if (status === 503 && code === BUSY)
    return new StoreOutage(`${url} has enough relays that load their state now.`, { retryAfterMs });
  if (status === 429) return new StoreOutage(`${url} has too many followers.`, { retryAfterMs });
  if (status >= 500) return new StoreOutage(`${url} answered with status ${status}.`);
  return new StorageError(`${url} is not an upstream for a relay: it answered with status ${status}.`);
}

/** What an operator can do about a failed connection. */
function explain(cause: unknown, url: string): Error {
  if (cause instanceof StorageError || cause instanceof StoreOutage) return cause;
  if (cause instanceof LogProtocolError)
    return new StorageError(`The upstream ${url} cannot be followed: ${cause.message}.`, { cause });
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const certificate = certificateProblem(code, url);
  if (certificate !== undefined) return new StorageError(certificate, { cause });
  return new StoreOutage(`${url} cannot be reached${code === '' ? '' : ` (${code})`}.`, { cause });
}

function certificateProblem(code: string, url: string): string | undefined {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of ${url} is for another host name. Use the name it was issued for.`;
  if (code === 'CERT_HAS_EXPIRED') return `The certificate of ${url} has expired. Renew it.`;
  if (code === 'CERT_NOT_YET_VALID')
    return `The certificate of ${url} is not valid yet. Check the clocks of both machines.`;
  if (/SELF_SIGNED|UNABLE_TO_GET_ISSUER|UNTRUSTED|UNABLE_TO_VERIFY/.test(code)) {
    return (
      `The certificate of ${url} was issued by an authority that this machine does not trust (${code}). Set ` +
      "NODE_EXTRA_CA_CERTS to the file with the authority's certificate (PEM)."
    );
  }
  return /CERT|CRL|_CA$|ISSUER/.test(code) ? `The certificate of ${url} was rejected (${code}).` : undefined;
}
