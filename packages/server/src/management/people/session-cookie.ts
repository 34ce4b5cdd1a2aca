import { SESSION_LIFETIME } from '../../domain/people.ts';

/** The cookie's name over plain HTTP; over HTTPS it has {@link HOST_PREFIX} before it. */
export const SESSION_COOKIE = 'halyard_session';

/** Browsers take a cookie of such a name only from HTTPS, for this one host and every path of it. */
const HOST_PREFIX = '__Host-';

/** The session id in the request's cookies; the one that came over HTTPS goes first. `undefined` when none is sent. */
export function sessionIdIn(request: Request): string | undefined {
  const cookies = new Map(
    (request.headers.get('Cookie') ?? '').split(';').map((pair) => {
      const [name = '', ...value] = pair.split('=');
      return [name.trim(), value.join('=').trim()] as const;
    }),
  );
  return cookies.get(HOST_PREFIX + SESSION_COOKIE) ?? cookies.get(SESSION_COOKIE);
}

/** The `Set-Cookie` header that begins a session in the browser that sent `request`. */
export function startCookie(request: Request, id: string): string {
  const isSecure = request.headers.get('Origin')?.startsWith('https:') === true;
  return cookie(id, { isSecure, maxAgeSeconds: SESSION_LIFETIME.absoluteMs / 1000 });
}

/** The `Set-Cookie` headers that end a session, whichever way it came. */
export function endCookies(): readonly string[] {
  return [true, false].map((isSecure) => cookie('', { isSecure, maxAgeSeconds: 0 }));
}

function cookie(
  value: string,
  { isSecure, maxAgeSeconds }: { readonly isSecure: boolean; readonly maxAgeSeconds: number },
): string {
  const name = isSecure ? HOST_PREFIX + SESSION_COOKIE : SESSION_COOKIE;
  const secure = isSecure ? '; Secure' : '';
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}
