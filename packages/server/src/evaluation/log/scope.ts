import type { ChangePayload, LogRow, StoredRelay } from '../../domain/change-log.ts';
import { DELETED_MARK } from '../../domain/project.ts';
import type { ServedContents } from '../catalog/catalog.ts';
import type { ServedKey, ServedKeys } from '../catalog/key-index.ts';
import type { BacklogRow } from './backlog.ts';

/** The part of the log that a follower gets. */
export interface LogScope {
  /** Ids of projects; absent for all, future ones included. */
  readonly projects?: ReadonlySet<string>;
  /** Names of environments; absent for all. */
  readonly environments?: ReadonlySet<string>;
}

/** The keys of a project as scopes with some environments see them, by the names of these. */
const NARROWED = new WeakMap<ServedKeys, Map<string, ServedKeys>>();

/** For so many sets of environments the keys of a project are kept encoded. */
const MAX_NARROWED = 4;

/** The whole log. */
export const WHOLE_LOG: LogScope = {};

/** A name that is the same for equal scopes. */
export function scopeName({ projects, environments }: LogScope): string {
  return JSON.stringify([projects && [...projects].sort(), environments && [...environments].sort()]);
}

/** The scope of a relay token. */
export function scopeOf({
  projects,
  environments,
}: Pick<StoredRelay, 'projects' | 'environments'>): LogScope {
  return {
    ...(projects && { projects: new Set(projects) }),
    ...(environments && { environments: new Set(environments) }),
  };
}

/** Whether two scopes may have something in common: a token that opens nothing here need not be known here. */
function overlaps(a: LogScope, b: LogScope): boolean {
  return meets(a.projects, b.projects) && meets(a.environments, b.environments);
}

function meets(a?: ReadonlySet<string>, b?: ReadonlySet<string>): boolean {
  return a === undefined || b === undefined || !a.isDisjointFrom(b);
}

/** The part of a node's contents that a scope contains. */
export function contentsIn(scope: LogScope, contents: ServedContents): ServedContents {
  const { projects: ids, environments: names } = scope;
  if (ids === undefined && names === undefined) return contents;
  const hasProject = (id: string) => ids?.has(id) ?? true;
  return {
    projects: contents.projects.filter(({ id }) => hasProject(id)),
    environments: contents.environments.filter((environment) => hasEnvironment(scope, environment)),
    keys: contents.keys.filter(({ projectId }) => hasProject(projectId)).map((keys) => keysIn(scope, keys)),
    relays: contents.relays.filter((relay) => overlaps(scope, scopeOf(relay))),
  };
}

/** The keys of a project as a scope sees them: one object for all scopes with the same environments. */
function keysIn(scope: LogScope, keys: ServedKeys): ServedKeys {
  if (scope.environments === undefined) return keys;
  const known = NARROWED.get(keys) ?? new Map<string, ServedKeys>();
  NARROWED.set(keys, known);
  const name = scopeName({ environments: scope.environments });
  const narrowed = known.get(name) ?? {
    projectId: keys.projectId,
    [Symbol.iterator]: () => recordsIn(scope, keys),
  };

  // The one that was asked for last is dropped last.
  known.delete(name);
  known.set(name, narrowed);
  for (const oldest of known.keys()) {
    if (known.size <= MAX_NARROWED) break;
    known.delete(oldest);
  }
  return narrowed;
}

function* recordsIn(scope: LogScope, keys: ServedKeys): Generator<ServedKey> {
  for (const key of keys) {
    const environments = namesIn(scope, key.environments);
    if (environments.length > 0) yield { ...key, environments };
  }
}

/** Whether a scope contains an environment. */
export function hasEnvironment(
  { projects, environments }: LogScope,
  { projectId, name }: { readonly projectId: string; readonly name: string },
): boolean {
  return (projects?.has(projectId) ?? true) && (environments?.has(name) ?? true);
}

/** The names of environments that a scope contains, also of deleted ones: their keys stay valid everywhere. */
function namesIn({ environments }: LogScope, names: readonly string[]): readonly string[] {
  if (environments === undefined) return names;
  return names.filter((name) =>
    environments.has(name.endsWith(DELETED_MARK) ? name.slice(0, -DELETED_MARK.length) : name),
  );
}

/**
 * A row as a scope sees it: without its author, and outside the scope without contents, so that it only moves the
 * cursor. A new kind of row must be named here, or the compiler refuses it.
 */
export function rowIn(scope: LogScope, { row, environmentName }: BacklogRow): LogRow {
  const { projects, environments } = scope;
  const open = { ...row, actor: '' };
  const hasProject = projects?.has(row.projectId) ?? true;

  // The catalog has applied the row, so its payload is what its kind promises.
  switch (row.kind) {
    case 'project.created':
    case 'project.updated':
    case 'project.deleted':
      return hasProject ? open : emptied(row);

    case 'environment.created':
    case 'environment.deleted':
    case 'flags.changed': {
      const hasName = environments === undefined || environments.has(environmentName ?? '');
      return hasProject && hasName ? open : emptied(row);
    }

    case 'key.created': {
      if (!hasProject) return emptied(row);
      if (environments === undefined) return open;
      const payload = JSON.parse(row.payload) as ChangePayload['key.created'];
      const names = namesIn(scope, payload.environments);
      const narrowed = JSON.stringify({ ...payload, environments: names });
      return names.length === 0 ? emptied(row) : { ...open, payload: narrowed };
    }
    case 'key.revoked':
      return hasProject ? open : emptied(row);

    case 'relay.created': {
      const payload = JSON.parse(row.payload) as ChangePayload['relay.created'];
      return overlaps(scope, scopeOf(payload)) ? open : emptied(row);
    }
    case 'relay.revoked':
      return open;

    case 'records.changed':
      return emptied(row);

    default:
      row.kind satisfies never;
      // A newer node above this one may send kinds that this program does not know: only a scope of everything has them for sure.
      return projects === undefined && environments === undefined ? open : emptied(row);
  }
}

/** A row that says nothing but its place in the log. */
function emptied({ seq, changeId, at }: LogRow): LogRow {
  return { seq, changeId, kind: 'records.changed', projectId: '', payload: '{"actions":[]}', actor: '', at };
}
