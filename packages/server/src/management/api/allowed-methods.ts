import type { ManagementApp } from './environment.ts';

/** Tells which methods a path takes: empty for a path that is no route. Made once all routes are mounted. */
export function allowedMethods(app: ManagementApp): (path: string) => readonly string[] {
  const routes = app.routes
    .filter(({ method }) => method !== 'ALL')
    .map(({ method, path }) => ({
      method,
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
    }));
  return (path) => {
    const methods = new Set(routes.flatMap(({ method, pattern }) => (pattern.test(path) ? [method] : [])));
    // A GET route answers HEAD as well.
    return [...(methods.has('GET') ? [...methods, 'HEAD'] : methods)].sort();
  };
}
