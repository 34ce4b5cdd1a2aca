/** A request without an answer. */
export interface FailedRequest {
  /** The address of the server, without a path. */
  readonly url: string;
  /** Timeout of the answer, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether the request can have changed something. */
  readonly isWrite: boolean;
}

/** Describes why `fetch` rejected with `cause`, and what to do next; not what became of a write. */
export function describeConnectionFailure(
  cause: unknown,
  { url, timeoutMs, isWrite }: FailedRequest,
): string {
  const code = codeOf(cause);
  const harmless = describeHarmlessFailure(code, url);
  if (harmless !== undefined) return harmless;
  const problem =
    code === 'TimeoutError'
      ? `${url} did not answer within ${timeoutMs / 1000} seconds.`
      : `The connection to ${url} was lost before the answer arrived (${code}).`;
  if (isWrite) return problem;
  const hint = url.startsWith('http:')
    ? ` If this port expects TLS, use ${url.replace('http:', 'https:')}.`
    : '';
  return `${problem} Try again.${hint}`;
}

/** Whether `fetch` rejected with `cause` before the request can have changed anything. */
export function isHarmlessFailure(cause: unknown, url: string): boolean {
  return describeHarmlessFailure(codeOf(cause), url) !== undefined;
}

/** Describes failures that cannot have changed anything; `undefined` for all others. */
function describeHarmlessFailure(code: string, url: string): string | undefined {
  const { hostname } = new URL(url);
  if (code === 'ECONNREFUSED')
    return `No server is running at ${url}. Start one with "halyard serve", or set --url, HALYARD_URL or, without them, HALYARD_PORT.`;
  if (code === 'UnexpectedRedirect')
    return `${url} redirects to another address. Set --url or HALYARD_URL to that one.`;
  if (code === 'ENOTFOUND' || code.startsWith('EAI_'))
    return `Cannot resolve the host name ${hostname}. Check --url or HALYARD_URL.`;
  if (['ENETUNREACH', 'EHOSTUNREACH', 'ETIMEDOUT', 'ConnectionTimeout'].includes(code))
    return `Cannot reach ${url} from this machine (${code}). Check the address, the network and firewalls.`;
  if (code === 'Malformed_HTTP_Response')
    return `${url} is not a web server: the port speaks another protocol. Check --url or HALYARD_URL.`;
  if (code === 'EPROTO')
    return `${url} does not speak TLS on this port. Check the port, or use ${url.replace('https:', 'http:')}.`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `The certificate of ${url} is for another host name. Use the name it was issued for, or issue one for ${hostname}.`;
  if (code === 'CERT_HAS_EXPIRED')
    return `The certificate of ${url} has expired. Renew it on the server or proxy that presents it.`;
  if (code === 'CERT_NOT_YET_VALID')
    return `The certificate of ${url} is not valid yet. Check the clocks of this machine and of the server.`;
  if (UNKNOWN_AUTHORITY.has(code))
    return (
      `The certificate of ${url} was issued by an authority that this machine does not trust (${code}). Set ` +
      "NODE_EXTRA_CA_CERTS to the file with the authority's certificate (PEM), or NODE_USE_SYSTEM_CA=1 if the " +
      'system trusts it.'
    );
  // OpenSSL's other verification codes, all from the handshake.
  if (/CERT|CRL|_CA$|ISSUER/.test(code)) return `The certificate of ${url} was rejected (${code}).`;
  return undefined;
}

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
]);

function codeOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown';
  if (cause.name === 'TimeoutError') return cause.name;
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.name;
}
