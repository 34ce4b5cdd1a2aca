import { useCallback, useSyncExternalStore } from 'react';
import { createWatchers } from '../../browser/watchers.ts';

/** The rows that a person opened, by id. They stay open for a person who comes back to the screen. */
const toggled = new Set<string>();
const { watch, tell } = createWatchers();

/** Whether a row was opened, and a function that opens or closes it. */
export function useToggled(id: string): readonly [isToggled: boolean, toggle: () => void] {
  const isToggled = useSyncExternalStore(watch, () => toggled.has(id));
  const toggle = useCallback(() => {
    if (!toggled.delete(id)) toggled.add(id);
    tell();
  }, [id]);
  return [isToggled, toggle];
}
