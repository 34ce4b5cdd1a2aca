import type { MiddlewareHandler } from 'hono';
import { ServiceError } from '../../domain/errors.ts';
import { invalid } from '../../domain/strict-members.ts';
import { sessionIdIn } from '../people/session-cookie.ts';
import type { ManagementEnv } from './environment.ts';

/** What the guard compares with. */
export interface OwnPageOptions {
  /** Where people reach this server with a browser. */
  readonly publicUrl: string;
  /** Whether `X-Forwarded-Host` is believed. */
  readonly trustProxy: boolean;
}

/** Media types that no page of another site can send without being asked about it first. */
const SAFE_TYPES = ['application/json', 'application/yaml'];

/**
 * Refuses what another site's page makes a browser send: everything that changes something without an access token
 * must come from a page of this very server and hold JSON. A browser adds cookies by itself, but never `Authorization`,
 * and says where a page is from; a program that sends neither cookie nor origin has nothing that could be abused.
 */
export function guardAgainstOtherPages(options: OwnPageOptions): MiddlewareHandler<ManagementEnv> {
  return async (c, next) => {
    const request = c.req.raw;
    const changes = !['GET', 'HEAD', 'OPTIONS'].includes(request.method);
    if (changes && !request.headers.has('Authorization')) {
      if (!isOwnPage(request, options)) {
        throw new ServiceError(
          'forbidden',
          "This request does not come from a page of this server: use the dashboard's own address, or an access token.",
        );
      }
      requireSafeType(request);
    }
    await next();
  };
}

function isOwnPage(request: Request, { publicUrl, trustProxy }: OwnPageOptions): boolean {
  const { headers } = request;
  const site = headers.get('Sec-Fetch-Site');
  if (site !== null) return site === 'same-origin';
  // Browsers leave that header out where the address is plain HTTP; the origin is there all the same.
  const origin = headers.get('Origin');
  if (origin === null) return sessionIdIn(request) === undefined;
  if (!URL.canParse(origin)) return false;
  const hosts = [headers.get('Host') ?? new URL(request.url).host];
  if (trustProxy) hosts.push(headers.get('X-Forwarded-Host') ?? '');
  const { host } = new URL(origin);
  // Origins such as file:// and data: have no host, and neither has a header that is missing.
  return (host !== '' && hosts.includes(host)) || origin === new URL(publicUrl).origin;
}

function requireSafeType({ headers, body }: Request): void {
  if (body === null || headers.get('Content-Length') === '0') return;
  const [type = ''] = (headers.get('Content-Type') ?? '').split(';');
  if (SAFE_TYPES.includes(type.trim().toLowerCase())) return;
  throw invalid('The body must say that it is JSON: send "Content-Type: application/json".');
}
