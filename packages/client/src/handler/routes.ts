import { defined } from '@halyard/protocol';

/** What a request asks for. */
export interface Route {
  /**
   * `flags` and `stream` as on the service; `evaluate` and `events` are OFREP's; `manifest` is for OpenFeature's CLI;
   * `unknown` begins like a route of OFREP but is not one.
   */
  readonly name: 'flags' | 'stream' | 'evaluate' | 'events' | 'manifest' | 'unknown';
  readonly methods: readonly string[];
  readonly isOfrep: boolean;
  /** The path before the route: where the handler is mounted. */
  readonly base: string;
  /** The environment that the path names. */
  readonly environment?: string;
  /** The flag, where the route names one. */
  readonly key?: string;
  /** Whether the path has an escape that does not decode to UTF-8. */
  readonly isMalformed: boolean;
}

const READ = ['GET', 'HEAD'] as const;

/** Routes by the end of the path, as the handler can be mounted anywhere. The first that matches counts. */
const ROUTES = [
  { name: 'evaluate', methods: ['POST'], end: /\/ofrep\/v1\/evaluate\/flags(?:\/(?<key>[^/]+))?$/ },
  { name: 'events', methods: READ, end: /\/ofrep\/v1\/stream$/ },
  { name: 'manifest', methods: READ, end: /\/openfeature\/v0\/manifest$/ },
  { name: 'flags', methods: READ, end: /\/v1\/flags$/ },
  { name: 'stream', methods: READ, end: /\/v1\/stream$/ },
  { name: 'unknown', methods: [], end: /\/ofrep\// },
] as const;

/** The route of a path; `undefined` when it has none. */
export function findRoute(pathname: string): Route | undefined {
  for (const { name, methods, end } of ROUTES) {
    const found = end.exec(pathname);
    if (!found) continue;
    const isOfrep = name === 'evaluate' || name === 'events' || name === 'unknown';
    const base = pathname.slice(0, found.index).replace(/^\/{2,}/, '/');
    const named = isOfrep || name === 'manifest' ? /\/environments\/([^/]+)$/.exec(base)?.[1] : undefined;
    const environment = decode(named);
    const key = decode(found.groups?.key);
    const isMalformed = environment === null || key === null;
    return {
      name,
      methods,
      isOfrep,
      base,
      isMalformed,
      ...defined({ environment: environment ?? named, key: key ?? found.groups?.key }),
    };
  }
  return undefined;
}

/** Decodes a part of a path; `null` when it is not encoded as UTF-8. */
function decode(part: string | undefined): string | null | undefined {
  try {
    return part === undefined ? undefined : decodeURIComponent(part);
  } catch {
    return null;
  }
}
