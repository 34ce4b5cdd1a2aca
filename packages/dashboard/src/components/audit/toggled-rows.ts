import { useCallback, useSyncExternalStore } from 'react';

/** The rows that a person opened, by id. They stay open for a person who comes back to the screen. */
const toggled = new Set<string>();
const listeners = new Set<() => void>();

/** Whether a row was opened, and a function that opens or closes it. */
export function useToggled(id: string): readonly [isToggled: boolean, toggle: () => void] {
  const isToggled = useSyncExternalStore(subscribe, () => toggled.has(id));
  const toggle = useCallback(() => {
    if (!toggled.delete(id)) toggled.add(id);
    for (const listener of listeners) listener();
  }, [id]);
  return [isToggled, toggle];
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
