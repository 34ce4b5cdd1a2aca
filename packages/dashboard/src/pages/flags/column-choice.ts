import type { EnvironmentRecord, ProjectRecord } from '../../api/types.ts';
import { type ExtraColumn, extraColumnsOf } from './extra-columns.tsx';

/** What the person hides and pins, by the names of environments and of {@link ExtraColumn}. */
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
  /** The columns after them. */
  readonly extra: readonly ExtraColumn[];
}

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
  project: Pick<ProjectRecord, 'environments' | 'usageSince'>,
  { hidden, pinned, added }: ColumnChoice,
  only: EnvironmentRecord | undefined,
): Columns {
  const listed =
    only === undefined ? project.environments.filter(({ name }) => !hidden.includes(name)) : [only];
  const first = listed.filter(({ name }) => pinned.includes(name));
  return {
    environments: [...first, ...listed.filter((environment) => !first.includes(environment))],
    pinned: first.length,
    extra: extraColumnsOf(project).filter(({ name, isOnRequest }) =>
      isOnRequest === true ? added.includes(name) : !hidden.includes(name),
    ),
  };
}
