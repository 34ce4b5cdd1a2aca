/** Which of several servers an address asks for, as libpq names it in `target_session_attrs`. */
export type SessionTarget = 'any' | 'primary' | 'standby';

const TARGETS: Readonly<Record<string, SessionTarget>> = {
  any: 'any',
  'read-write': 'primary',
  primary: 'primary',
  'read-only': 'standby',
  standby: 'standby',
};

/** The servers of a PostgreSQL address. */
export interface PostgresServers {
  /** One address for each, in order, without `target_session_attrs`. */
  readonly urls: readonly [string, ...string[]];
  readonly target: SessionTarget;
}

/**
 * Parses `postgres://user:password@a:5432,b:5432/database?target_session_attrs=read-write`, with one server or several,
 * as libpq reads it. `undefined` if it is not such an address.
 */
export function parsePostgresUrl(text: string): PostgresServers | undefined {
  const [, start, hosts, rest] = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(text) ?? [];
  if (start === undefined || hosts === undefined || rest === undefined) return undefined;
  const urls: string[] = [];
  let target: SessionTarget | undefined;
  for (const host of hosts.split(',')) {
    const url = URL.parse(`${start}${host}${rest}`);
    if (url === null || (host === '' && hosts !== '')) return undefined;
    target = TARGETS[url.searchParams.get('target_session_attrs') ?? 'any'];
    if (target === undefined) return undefined;
    if (url.searchParams.has('target_session_attrs')) {
      url.searchParams.delete('target_session_attrs');
      urls.push(url.href);
    } else urls.push(`${start}${host}${rest}`);
  }
  const [first, ...others] = urls;
  return first === undefined || target === undefined ? undefined : { urls: [first, ...others], target };
}
