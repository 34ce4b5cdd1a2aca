/** What a request asks for. */
export interface Route {
  /** `flags` and `stream` as on the service; `evaluate` and `events` are OFREP's; `manifest` is OpenFeature's CLI's. */
  readonly name: 'flags' | 'stream' | 'evaluate' | 'events' | 'manifest';
  readonly methods: readonly string[];
  readonly isOfrep: boolean;
  /** The path before the route: where the handler is mounted. */
  readonly base: string;
  /** The environment that the path names. */
  readonly environment?: string;
  /** The flag, where the route names one. */
  readonly key?: string;
}

const READ = ['GET', 'HEAD'] as const;

/** Routes by the end of the path, as the handler can be mounted anywhere. The first that matches counts. */
const ROUTES = [
  { name: 'evaluate', methods: ['POST'], end: /\/ofrep\/v1\/evaluate\/flags(?:\/(?<key>.+))?$/ },
  { name: 'events', methods: READ, end: /\/ofrep\/v1\/stream$/ },
  { name: 'manifest', methods: READ, end: /\/openfeature\/v0\/manifest$/ },
  { name: 'flags', methods: READ, end: /\/v1\/flags$/ },
  { name: 'stream', methods: READ, end: /\/v1\/stream$/ },
] as const;

/** The route of a path; `undefined` when it has none, or is not encoded as UTF-8. */
export function findRoute(pathname: string): Route | undefined {
  for (const { name, methods, end } of ROUTES) {
    const found = end.exec(pathname);
    if (!found) continue;
    const isOfrep = name === 'evaluate' || name === 'events';
    const base = pathname.slice(0, found.index);
    const environment =
      isOfrep || name === 'manifest' ? /\/environments\/([^/]+)$/.exec(base)?.[1] : undefined;
    const key = found.groups?.key;
    try {
      return {
        name,
        methods,
        isOfrep,
        base,
        ...(environment !== undefined && { environment: decodeURIComponent(environment) }),
        ...(key !== undefined && { key: decodeURIComponent(key) }),
      };
    } catch {
      return undefined;
    }
  }
  return undefined;
}
