import { useMemo } from 'react';
import { useSearchState } from '../browser/use-search-state.ts';

/** The order of a list, held by the address as `sort`: a column's key, with `-` before it when reversed. */
export interface Sort {
  /** The key of a column; empty for the list's own order. */
  readonly by: string;
  readonly isReversed: boolean;
  /** Sorts by a column; again: in reverse; once more: in the list's own order. */
  readonly toggle: (by: string) => void;
}

/** Reads and changes the order that the address asks for. */
export function useSort(): Sort {
  const [params, setParams] = useSearchState();
  const text = params.get('sort') ?? '';
  return useMemo(
    () => ({
      by: text.replace(/^-/, ''),
      isReversed: text.startsWith('-'),
      toggle: (by) => setParams({ sort: text === by ? `-${by}` : text === `-${by}` ? '' : by }),
    }),
    [text, setParams],
  );
}

/** The `aria-sort` of the head of a column. */
export function ariaSort({ by, isReversed }: Sort, key: string): 'none' | 'ascending' | 'descending' {
  if (by !== key) return 'none';
  return isReversed ? 'descending' : 'ascending';
}

/**
 * Items in an order. `memberOf` returns what a column sorts by: a text, a number, or `undefined` for none, which comes
 * last. Items of the same value keep their places.
 */
export function sortItems<Item>(
  items: readonly Item[],
  { by, isReversed }: Pick<Sort, 'by' | 'isReversed'>,
  memberOf: (item: Item, by: string) => unknown,
): readonly Item[] {
  if (by === '') return items;
  const direction = isReversed ? -1 : 1;
  return items.toSorted((one, other) => {
    const [first, second] = [memberOf(one, by), memberOf(other, by)];
    if (first === undefined || second === undefined)
      return Number(first === undefined) - Number(second === undefined);
    if (typeof first === 'number' && typeof second === 'number') return direction * (first - second);
    return direction * String(first).localeCompare(String(second), 'en', { numeric: true });
  });
}
