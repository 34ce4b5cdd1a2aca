import type { EnvironmentRecord, ProjectRecord } from '../../api/types.ts';

/** What the person hides and pins, by the names of environments; `owner`, `read` and `changed` are columns too. */
export interface ColumnChoice {
  readonly hidden: readonly string[];
  readonly pinned: readonly string[];
  /** Columns that are hidden by default and shown on request. */
  readonly added: readonly string[];
}

/** The columns of the flag table, as the person has chosen them for a project. */
export interface Columns {
  /** The environments that are shown, the pinned ones first. */
  readonly environments: readonly EnvironmentRecord[];
  /** How many of them are pinned: they stay in view when the others scroll. */
  readonly pinned: number;
  readonly hasOwner: boolean;
  /** When the flags were last read in these environments; only where the project counts reads. */
  readonly hasRead: boolean;
  readonly hasChange: boolean;
}

/** The names of the columns beside the environments. A colon is not allowed in names of environments. */
export const OWNER = ':owner';
export const CHANGED = ':changed';
export const READ = ':read';

/** Reads a stored choice; anything else is no choice. */
export function parseChoice(text: string | undefined): ColumnChoice {
  const read: unknown = text === undefined || text === '' ? {} : safeParse(text);
  const lists = (typeof read === 'object' && read !== null ? read : {}) as Record<string, unknown>;
  return {
    hidden: namesIn(lists.hidden),
    pinned: namesIn(lists.pinned),
    added: namesIn(lists.added),
  };
}

function safeParse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Something else was stored under this name.
    return undefined;
  }
}

function namesIn(list: unknown): readonly string[] {
  return Array.isArray(list) ? list.filter((name) => typeof name === 'string') : [];
}

/** The columns that a choice leaves. `only` is the one environment that all screens are limited to. */
export function columnsOf(
  { environments, usageSince }: Pick<ProjectRecord, 'environments' | 'usageSince'>,
  { hidden, pinned, added }: ColumnChoice,
  only: EnvironmentRecord | undefined,
): Columns {
  const listed = only === undefined ? environments.filter(({ name }) => !hidden.includes(name)) : [only];
  const first = listed.filter(({ name }) => pinned.includes(name));
  return {
    environments: [...first, ...listed.filter((environment) => !first.includes(environment))],
    pinned: first.length,
    hasOwner: added.includes(OWNER),
    hasRead: usageSince !== undefined && !hidden.includes(READ),
    hasChange: !hidden.includes(CHANGED),
  };
}
