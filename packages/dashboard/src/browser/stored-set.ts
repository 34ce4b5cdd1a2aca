import { useCallback, useMemo, useRef } from 'react';
import { useStored } from './stored.ts';

/** The items of a set that this browser stores as `name`, such as what is starred, and a stable function to toggle one. */
export function useStoredSet(name: string): readonly [ReadonlySet<string>, (item: string) => void] {
  const [text, store] = useStored(name);
  // Keys of flags and names of projects have no spaces.
  const items = useMemo(() => new Set((text ?? '').split(' ').filter(Boolean)), [text]);
  const latest = useRef(items);
  latest.current = items;
  const toggle = useCallback(
    (item: string) => store([...latest.current.symmetricDifference(new Set([item]))].join(' ')),
    [store],
  );
  return [items, toggle];
}

/** Where this browser stores the projects that the person has starred. */
export const STARRED_PROJECTS = 'starred-projects';

/** The starred items first, then the others, each group in its order. */
export function starredFirst<Item extends { readonly name: string }>(
  items: readonly Item[],
  starred: ReadonlySet<string>,
): readonly Item[] {
  return items.toSorted((a, b) => Number(starred.has(b.name)) - Number(starred.has(a.name)));
}
