import { useMemo, useState } from 'react';

/** Which flags are chosen for something that is done to many. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
  /** Chooses all of these as well, or drops them when all are chosen already. */
  readonly toggleAll: (keys: readonly string[]) => void;
  /** Drops all but these. */
  readonly keep: (keys: ReadonlySet<string>) => void;
  readonly clear: () => void;
}

const NONE: ReadonlySet<string> = new Set();

/** Keeps a choice of flags. Its functions are stable. */
export function useSelection(): Selection {
  const [keys, setKeys] = useState(NONE);
  const deeds = useMemo(
    () => ({
      toggle: (key: string) =>
        setKeys((chosen) => {
          const next = new Set(chosen);
          if (!next.delete(key)) next.add(key);
          return next;
        }),
      toggleAll: (all: readonly string[]) =>
        setKeys((chosen) => {
          const these = new Set(all);
          return these.isSubsetOf(chosen) ? chosen.difference(these) : chosen.union(these);
        }),
      keep: (kept: ReadonlySet<string>) => setKeys((chosen) => new Set(chosen).intersection(kept)),
      clear: () => setKeys(NONE),
    }),
    [],
  );
  return useMemo(() => ({ keys, ...deeds }), [keys, deeds]);
}
