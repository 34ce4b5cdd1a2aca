import { useCallback, useMemo, useRef } from 'react';
import { useStored } from '../../browser/stored.ts';

/** The flags of a project that the person marked as favorites in this browser, and a stable function to toggle one. */
export function useFavorites(project: string): readonly [ReadonlySet<string>, (key: string) => void] {
  const [text, store] = useStored(`favorites.${project}`);
  // Keys of flags have no spaces.
  const favorites = useMemo(() => new Set((text ?? '').split(' ').filter(Boolean)), [text]);
  const latest = useRef(favorites);
  latest.current = favorites;
  const toggle = useCallback(
    (key: string) => store([...latest.current.symmetricDifference(new Set([key]))].join(' ')),
    [store],
  );
  return [favorites, toggle];
}
