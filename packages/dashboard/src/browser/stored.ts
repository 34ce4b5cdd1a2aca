import { useCallback, useSyncExternalStore } from 'react';
import { createWatchers } from './watchers.ts';

/** What was stored since the page was opened: storage may be disabled or full. */
const written = new Map<string, string>();
const { watch, tell } = createWatchers();

addEventListener('storage', ({ key }: StorageEvent) => {
  // Another tab has stored something; `null`: everything was cleared.
  if (key === null) written.clear();
  else written.delete(key.replace(/^halyard\./, ''));
  tell();
});

/** A text that this browser stores under a name, the same everywhere on the page, and a function to replace it. */
export function useStored(name: string): readonly [string | undefined, (text: string) => void] {
  const text = useSyncExternalStore(watch, () => readStored(name));
  const set = useCallback((next: string) => writeStored(name, next), [name]);
  return [text, set];
}

/** Calls a function after each change of what this browser stores. Returns the function that stops it. */
export const watchStored = watch;

/** A choice of this browser that outlives the page, such as the density of a table. */
export function useStoredChoice<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  initial: Choice,
): readonly [Choice, (choice: Choice) => void] {
  const [text, set] = useStored(name);
  return [choices.find((each) => each === text) ?? initial, set];
}

/** The text that this browser stores under a name; `undefined` without one. */
export function readStored(name: string): string | undefined {
  const text = written.get(name);
  if (text !== undefined) return text;
  try {
    return localStorage.getItem(`halyard.${name}`) ?? undefined;
  } catch {
    // Storage is disabled: nothing is stored.
    return undefined;
  }
}

/** Stores a text under a name; where this browser does not allow it, until the page is closed. */
export function writeStored(name: string, text: string): void {
  written.set(name, text);
  try {
    localStorage.setItem(`halyard.${name}`, text);
  } catch {
    // Disabled or full: the choice lasts as long as the page.
  }
  tell();
}
