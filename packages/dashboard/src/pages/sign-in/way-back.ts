/** Where to go after signing in: to where the person came from, if that is on this server, or home. */
export function wayBack(search: string): string {
  const from = new URLSearchParams(search).get('from') ?? '/';
  // "//host" and "/\host" are addresses of other servers.
  return /^\/(?![/\\])/.test(from) ? from : '/';
}
