import { useCallback, useState } from 'react';

/** A choice of this browser that outlives the page, such as the density of a table. */
export function useStoredChoice<Choice extends string>(
  name: string,
  choices: readonly Choice[],
  initial: Choice,
): readonly [Choice, (choice: Choice) => void] {
  const [choice, setChoice] = useState<Choice>(
    () => choices.find((each) => each === readStored(name)) ?? initial,
  );
  const choose = useCallback(
    (next: Choice) => {
      setChoice(next);
      writeStored(name, next);
    },
    [name],
  );
  return [choice, choose];
}

/** What this browser keeps under a name; `undefined` for nothing, or where storage is switched off. */
export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(`halyard.${name}`) ?? undefined;
  } catch {
    // Switched off: nothing is kept.
    return undefined;
  }
}

/** Keeps a text under a name, where this browser allows it. */
export function writeStored(name: string, text: string): void {
  try {
    localStorage.setItem(`halyard.${name}`, text);
  } catch {
    // Switched off or full: the choice lasts as long as the page.
  }
}
