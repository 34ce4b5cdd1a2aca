/** What a request was, as far as it matters when its answer never came. */
export interface FailedRequest {
  /** The address of the server, without a path. */
  readonly url: string;
  /** How long an answer could take, in milliseconds. */
  readonly timeoutMs: number;
  /** Whether it could have changed something. */
  readonly isWrite: boolean;
}

/**
 * Says why `fetch` got no answer and what to do about it, from what it rejected with. Where a write may have reached
 * the server, it says so.
 */
export function describeConnectionFailure(
  cause: unknown,
  { url, timeoutMs, isWrite }: FailedRequest,
): string {
  const code = codeOf(cause);
  const harmless = describeHarmless(code, url);
  if (harmless !== undefined) return harmless;
  const what =
    code === 'TimeoutError'
      ? `${url} did not answer within ${timeoutMs / 1000} seconds.`
      : `The connection to ${url} was lost before the answer had arrived (${code}).`;
  if (isWrite) return `${what} ${MAYBE_CHANGED}`;
  const hint = url.startsWith('http:')
    ? ` If this port expects TLS, use ${url.replace('http:', 'https:')}.`
    : '';
  return `${what} Try again.${hint}`;
}

/** For a write whose outcome is unknown. */
export const MAYBE_CHANGED =
  'The change may have been made: check with "halyard audit" before you run the command again.';

/** The failures after which nothing can have been changed; `undefined` for all others. */
function describeHarmless(code: string, url: string): string | undefined {
  const { hostname } = new URL(url);
  if (code === 'ECONNREFUSED')
    return `No server answers at ${url}. Start one with "halyard serve", or say where it is with --url or HALYARD_URL.`;
  if (code === 'UnexpectedRedirect')
    return `${url} redirects to another address: give that one with --url or HALYARD_URL.`;
  if (code === 'ENOTFOUND' || code.startsWith('EAI_'))
    return `The host name ${hostname} cannot be resolved. Check --url or HALYARD_URL.`;
  if (['ENETUNREACH', 'EHOSTUNREACH', 'ETIMEDOUT', 'ConnectionTimeout'].includes(code))
    return `${url} cannot be reached from this machine (${code}). Check the address, the network and firewalls.`;
  if (code === 'Malformed_HTTP_Response')
    return `${url} is not a web server: something else answers on this port. Check --url or HALYARD_URL.`;
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
  // What is left of OpenSSL's verification codes: all come from the handshake.
  if (/CERT|CRL|_CA$|ISSUER/.test(code)) return `The certificate of ${url} was refused (${code}).`;
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
