import { lookup } from 'node:dns/promises';
import type { ClientRequest, IncomingMessage, RequestOptions } from 'node:http';
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** How long a receiver may take, in milliseconds, and how much of its answer is read, in bytes. */
export const POST_LIMITS = { wholeMs: 10_000, answerBytes: 1024 } as const;

/** A request to an address that a user chose. */
export interface GuardedPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Ends the request early. */
  readonly signal?: AbortSignal;
}

/** The answer of a receiver. */
export interface PostAnswer {
  readonly status: number;
  /** The `Retry-After` header. */
  readonly retryAfter?: string;
  /** The first bytes of the body. */
  readonly beginning: string;
}

interface Address {
  readonly address: string;
  /** 4 or 6. */
  readonly family: number;
}

/** Finds the addresses of a host. */
export type Resolve = (host: string) => Promise<readonly Address[]>;

/** A receiver that cannot be reached, or is not allowed. The message is for the person who entered the address. */
export class PostError extends Error {
  override readonly name = 'PostError';
}

/**
 * Sends requests to addresses that users chose: by https to public addresses only, and by http or https to the networks
 * that the operator allows. The addresses that were checked are those that are connected to, so a name cannot change its
 * meaning in between. Redirects are not followed, proxies of the environment are not used.
 */
export class GuardedPoster {
  readonly #networks: readonly [ipaddr.IPv4 | ipaddr.IPv6, number][];
  readonly #resolve: Resolve;
  readonly #ca: string | undefined;
  readonly #wholeMs: number;

  /** `networks` in CIDR notation. */
  constructor({
    networks = [],
    resolve = (host) => lookup(host, { all: true }),
    ca,
    wholeMs = POST_LIMITS.wholeMs,
  }: {
    readonly networks?: readonly string[] | undefined;
    readonly resolve?: Resolve;
    /** Trusts this certificate authority alone. */
    readonly ca?: string;
    readonly wholeMs?: number;
  } = {}) {
    this.#networks = networks.map((network) => ipaddr.parseCIDR(network));
    this.#resolve = resolve;
    this.#ca = ca;
    this.#wholeMs = wholeMs;
  }

  /** Why a request can never be sent to this address; `undefined` if it may be possible. Asks no name server. */
  problemOf(text: string): string | undefined {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) {
      return 'must be an https:// address, such as https://hooks.example.com/halyard';
    }
    if (url.username !== '' || url.password !== '') {
      return 'contains a user name or password: leave them out, because messages are signed instead';
    }
    if (url.protocol === 'http:' && this.#networks.length === 0) {
      return 'must begin with https://: http is possible only in networks that HALYARD_WEBHOOK_NETWORKS allows';
    }
    const host = hostOf(url);
    return ipaddr.isValid(host) ? this.#refusal(host, url.protocol) : undefined;
  }

  /** Sends one request. Rejects with {@link PostError} without an answer. */
  async send(post: GuardedPost): Promise<PostAnswer> {
    const problem = this.problemOf(post.url);
    if (problem !== undefined) throw new PostError(`The address ${problem}.`);

    const url = new URL(post.url);
    const ended = new AbortController();
    const end = () => ended.abort();
    const timer = setTimeout(() => ended.abort(new PostError(TOO_SLOW)), this.#wholeMs);
    post.signal?.addEventListener('abort', end);
    if (post.signal?.aborted) end();

    const { signal } = ended;
    try {
      const addresses = await Promise.race([this.#addressesOf(url), aborted(signal)]);
      return await exchange(url, post, { addresses, signal, ca: this.#ca });
    } catch (cause) {
      throw cause instanceof PostError ? cause : new PostError(reasonOf(cause), { cause });
    } finally {
      clearTimeout(timer);
      post.signal?.removeEventListener('abort', end);
    }
  }

  async #addressesOf(url: URL): Promise<readonly Address[]> {
    const host = hostOf(url);
    // An IP address was checked with the URL.
    if (ipaddr.isValid(host)) return [{ address: host, family: isIP(host) }];
    const found = await this.#resolve(host).catch((cause: unknown) => {
      throw new PostError(`The host ${host} has no address.`, { cause });
    });
    if (found.length === 0) throw new PostError(`The host ${host} has no address.`);
    for (const { address } of found) {
      const refusal = this.#refusal(address, url.protocol);
      // All of them: a name with a private address among public ones is not meant for the public.
      if (refusal !== undefined) throw new PostError(`The address of ${host} ${refusal}.`);
    }
    return found;
  }

  #refusal(text: string, protocol: string): string | undefined {
    const address = ipaddr.process(text);
    if (this.#networks.some((network) => isIn(address, network))) return undefined;
    if (!isPublic(address)) {
      return 'is not public: to allow its network, set HALYARD_WEBHOOK_NETWORKS on the server';
    }
    return protocol === 'http:' ? 'is public, which needs https://' : undefined;
  }
}

const TOO_SLOW = `The receiver did not answer within ${POST_LIMITS.wholeMs / 1000} seconds.`;

function isIn(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  network: readonly [ipaddr.IPv4 | ipaddr.IPv6, number],
): boolean {
  return address.kind() === network[0].kind() && address.match([...network]);
}

/** The IPv6 addresses that are assigned for use between networks (RFC 4291, 2.4), less the special ones among them. */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/** Whether an address belongs to the public internet. `range()` calls everything `unicast` that has no other name. */
function isPublic(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isIn(address, GLOBAL_UNICAST));
}

/** Without the brackets of an IPv6 address. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}

interface Connection {
  readonly addresses: readonly Address[];
  readonly signal: AbortSignal;
  readonly ca: string | undefined;
}

/** One request on a connection of its own. The status decides; a body that is long, slow or cut is only shortened. */
async function exchange(
  url: URL,
  post: GuardedPost,
  { addresses, signal, ca }: Connection,
): Promise<PostAnswer> {
  // Loaded here: a node that starts serves flags without them.
  const { request: send } = await (url.protocol === 'https:' ? import('node:https') : import('node:http'));
  const body = Buffer.from(post.body);
  const options: RequestOptions & { readonly ca?: string } = {
    method: 'POST',
    agent: false,
    headers: { ...post.headers, 'Content-Length': String(body.length) },
    // Only these: nothing looks the name up again.
    lookup: (_host, { all }, callback) => {
      const [first] = addresses;
      if (all) callback(null, [...addresses]);
      else if (first !== undefined) callback(null, first.address, first.family);
    },
    ...(ca === undefined ? {} : { ca }),
  };

  return await new Promise((resolve, reject) => {
    let isAnswered = false;
    const request: ClientRequest = send(url, options, (answer) => {
      isAnswered = true;
      readBeginning(answer, signal).then((beginning) => {
        request.destroy();
        const { statusCode: status = 0, headers } = answer;
        const retryAfter = headers['retry-after'];
        resolve({ status, beginning, ...(retryAfter === undefined ? {} : { retryAfter }) });
      }, reject);
    });

    request.on('error', reject);
    const abort = () => {
      // After the status, what has come of the body is enough.
      if (!isAnswered) reject(signal.reason);
      request.destroy();
    };

    if (signal.aborted) return abort();
    signal.addEventListener('abort', abort, { once: true });
    request.on('close', () => signal.removeEventListener('abort', abort));
    request.end(body);
  });
}

/** The first bytes of a body as text. Ends without an error when the body breaks off, or the time is over. */
function readBeginning(answer: IncomingMessage, signal: AbortSignal): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    const finish = () => resolve(Buffer.concat(parts).subarray(0, POST_LIMITS.answerBytes).toString());
    answer.on('data', (part: Buffer) => {
      parts.push(part);
      bytes += part.length;
      if (bytes >= POST_LIMITS.answerBytes) finish();
    });
    for (const end of ['end', 'error', 'aborted', 'close']) answer.on(end, finish);
    signal.addEventListener('abort', finish, { once: true });
  });
}

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'The receiver refuses connections.',
  ECONNRESET: 'The receiver closed the connection before it answered.',
  ConnectionClosed: 'The receiver closed the connection before it answered.',
  ETIMEDOUT: TOO_SLOW,
  EHOSTUNREACH: 'The network has no route to the receiver.',
  ENETUNREACH: 'The network has no route to the receiver.',
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate of the receiver is for another host.',
  CERT_HAS_EXPIRED: 'The certificate of the receiver has expired.',
};

/** The cause in a sentence; never the address, whose path may be a secret. */
function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (/CERT|SIGNED|VERIFY/.test(code) && REASONS[code] === undefined) {
    return `The certificate of the receiver is not trusted (${code}).`;
  }
  return REASONS[code] ?? `The request failed${code === '' ? '' : ` (${code})`}.`;
}
