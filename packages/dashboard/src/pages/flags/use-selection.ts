import { useMemo, useState } from 'react';

/** Which flags are chosen for something that is done to many. */
export interface Selection {
  readonly keys: ReadonlySet<string>;
  readonly toggle: (key: string) => void;
  /** Chooses all of these, or none when all are chosen already. */
  readonly toggleAll: (keys: readonly string[]) => void;
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
        setKeys((chosen) => (all.every((key) => chosen.has(key)) ? NONE : new Set(all))),
      clear: () => setKeys(NONE),
    }),
    [],
  );
  return useMemo(() => ({ keys, ...deeds }), [keys, deeds]);
}
