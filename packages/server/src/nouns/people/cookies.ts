/** Browsers accept a cookie with this prefix only over HTTPS, for one host and all of its paths. */
const HOST_PREFIX = '__Host-';

/**
 * The value of a cookie; the one set over HTTPS takes precedence, and is the only one with `isSecure`: other hosts of the
 * domain can plant the other one. `undefined` when there is no such cookie.
 */
export function cookieIn(
  request: Request,
  name: string,
  { isSecure }: { readonly isSecure: boolean },
): string | undefined {
  const cookies = new Map(
    (request.headers.get('Cookie') ?? '').split(';').map((pair) => {
      const [found = '', ...value] = pair.split('=');
      return [found.trim(), value.join('=').trim()] as const;
    }),
  );
  return cookies.get(HOST_PREFIX + name) ?? (isSecure ? undefined : cookies.get(name));
}

/** The `Set-Cookie` header of a cookie for this server only; over HTTPS its name gets {@link HOST_PREFIX}. */
export function setCookie(
  name: string,
  value: string,
  { isSecure, maxAgeSeconds }: { readonly isSecure: boolean; readonly maxAgeSeconds: number },
): string {
  const secure = isSecure ? '; Secure' : '';
  return `${isSecure ? HOST_PREFIX : ''}${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`;
}

/** The `Set-Cookie` headers that remove a cookie, whether it was set over HTTPS or HTTP. */
export function removeCookie(name: string): readonly string[] {
  return [true, false].map((isSecure) => setCookie(name, '', { isSecure, maxAgeSeconds: 0 }));
}
