import { useDeferredValue, useMemo } from 'react';
import { useOperator } from '../../api/session.ts';
import type { FlagRecord, ProjectRecord } from '../../api/types.ts';
import { useReadTimes } from '../../api/usage.ts';
import { useStoredSet } from '../../browser/stored-set.ts';
import { useSearchState } from '../../browser/use-search-state.ts';
import type { Sort } from '../../components/sort.ts';
import { type FlagFilter, filterFlags, readFilter, wordsOf } from '../../flags/flag-filter.ts';
import { useSame } from '../../flags/flag-tags.ts';
import type { Columns } from './column-choice.ts';

/** What the person sees of the flags of a project, as the address says. */
export interface ShownFlags {
  /** In order. */
  readonly flags: readonly FlagRecord[];
  readonly filter: FlagFilter;
  /** The members of the address, and the function that sets some of them. It is stable. */
  readonly params: URLSearchParams;
  readonly setFilter: (members: Readonly<Record<string, string | undefined>>) => void;
  /** The words of the search, in lower case. */
  readonly words: readonly string[];
  readonly sort: Sort;
  readonly favorites: ReadonlySet<string>;
  readonly toggleFavorite: (key: string) => void;
  /** When flags were last read in the environments that are shown, by key; `undefined` where that is not known. */
  readonly readTimes: ReadonlyMap<string, string> | undefined;
  /** Whether the filter shows a flag that is not in the list yet. */
  readonly isShown: (flag: FlagRecord) => boolean;
}

/** The flags that the filter of the address shows. Typing comes first; the rows follow as soon as there is time. */
export function useShownFlags(
  project: ProjectRecord,
  flags: readonly FlagRecord[],
  { environments: shown }: Pick<Columns, 'environments'>,
): ShownFlags {
  const [params, setFilter] = useSearchState();
  const filter = useMemo(() => readFilter(params), [params]);
  const later = useDeferredValue(filter);

  const [favorites, toggleFavorite] = useStoredSet(`favorites.${project.name}`);
  const { email, name } = useOperator();
  const environments = project.environments.length;
  const shownNames = useSame(shown.map(({ name }) => name));
  const readTimes = useReadTimes(project, shownNames);
  const person = useMemo(
    () => ({ favorites, owners: [email, name], environments, readTimes }),
    [favorites, email, name, environments, readTimes],
  );

  return {
    flags: useMemo(() => filterFlags(flags, later, Date.now(), person), [flags, later, person]),
    filter,
    params,
    setFilter,
    words: useMemo(() => wordsOf(later.query), [later.query]),
    sort: useMemo(() => sortOf(filter, setFilter), [filter, setFilter]),
    favorites,
    toggleFavorite,
    readTimes,
    isShown: (flag) => !filter.isArchived && filterFlags([flag], filter, Date.now(), person).length > 0,
  };
}

/** The order of the list as its heads know it: the newest change is the first when that head is pressed. */
function sortOf({ sort, query }: FlagFilter, setFilter: (members: { sort: string }) => void): Sort {
  // A search without a choice lists the best match first.
  const [by, isReversed] = sort === 'key' && query.trim() !== '' ? ORDERS.created : ORDERS[sort];
  const nextOf = (column: string): string => {
    if (sort === column) return `-${column}`;
    // By key is the order without a choice.
    return sort === `-${column}` || column === 'key' ? '' : column;
  };
  return { by, isReversed, toggle: (column) => setFilter({ sort: nextOf(column) }) };
}

const ORDERS: Readonly<Record<FlagFilter['sort'], readonly [column: string, isReversed: boolean]>> = {
  key: ['key', false],
  '-key': ['key', true],
  changed: ['changed', true],
  '-changed': ['changed', false],
  created: ['', false],
  read: ['read', true],
  '-read': ['read', false],
};
