import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { FlagRecord } from '../api/types.ts';

/** The flags that are selected for a bulk action. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  /** Toggles a flag; or selects all of `range`, which it is a part of. */
  readonly toggle: (key: string, range?: readonly string[]) => void;
  /** Selects all of these as well, or deselects them when all are selected already. */
  readonly toggleAll: (keys: readonly string[]) => void;
  /** Deselects all but these. */
  readonly keep: (keys: ReadonlySet<string>) => void;
  readonly clear: () => void;
}

const NONE: ReadonlySet<string> = new Set();

/** Holds a selection of flags. Its functions are stable. */
export function useSelection(): Selection {
  const [keys, setKeys] = useState(NONE);
  const actions = useMemo(
    () => ({
      toggle: (key: string, range?: readonly string[]) =>
        setKeys((selected) =>
          range === undefined ? selected.symmetricDifference(new Set([key])) : selected.union(new Set(range)),
        ),
      toggleAll: (all: readonly string[]) =>
        setKeys((selected) => {
          const these = new Set(all);
          return these.isSubsetOf(selected) ? selected.difference(these) : selected.union(these);
        }),
      keep: (kept: ReadonlySet<string>) => setKeys((selected) => new Set(selected).intersection(kept)),
      clear: () => setKeys(NONE),
    }),
    [],
  );
  return useMemo(() => ({ keys, ...actions }), [keys, actions]);
}

/** A stable function that toggles a flag, or with Shift selects all from the one that was toggled before. */
export function useToggle(
  { toggle }: Selection,
  shown: readonly FlagRecord[],
): (key: string, isRange: boolean) => void {
  const last = useRef<string>(undefined);
  const listed = useRef(shown);
  useLayoutEffect(() => {
    listed.current = shown;
  });
  return useCallback(
    (key, isRange) => {
      const keys = listed.current.map((flag) => flag.key);
      const [from, to] = [keys.indexOf(last.current ?? ''), keys.indexOf(key)];
      const isWhole = isRange && from !== -1 && to !== -1;
      toggle(key, isWhole ? keys.slice(Math.min(from, to), Math.max(from, to) + 1) : undefined);
      last.current = key;
    },
    [toggle],
  );
}
