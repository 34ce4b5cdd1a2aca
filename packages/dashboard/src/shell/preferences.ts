import { useCallback, useState, useSyncExternalStore } from 'react';

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

/** The text that this browser stores under a name; `undefined` without one, and where storage is disabled. */
export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(`halyard.${name}`) ?? undefined;
  } catch {
    // Storage is disabled: nothing is stored.
    return undefined;
  }
}

/** Stores a text under a name, where this browser allows it. */
export function writeStored(name: string, text: string): void {
  try {
    localStorage.setItem(`halyard.${name}`, text);
  } catch {
    // Disabled or full: the choice lasts as long as the page.
  }
}

/** The selected theme; `system` follows the operating system. */
export type Theme = 'light' | 'dark' | 'system';

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let chosen: Theme = readTheme();

systemIsDark.addEventListener('change', apply);
window.addEventListener('storage', ({ key }) => {
  // The same name as in `theme-boot.ts`, which runs before the first paint.
  if (key !== 'halyard.theme') return;
  chosen = readTheme();
  apply();
});

/** The selected theme, and a function to select another. */
export function useTheme(): readonly [Theme, (theme: Theme) => void] {
  const theme = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => chosen,
  );
  return [theme, choose];
}

function choose(theme: Theme): void {
  chosen = theme;
  writeStored('theme', theme);
  apply();
}

function apply(): void {
  const isDark = chosen === 'dark' || (chosen === 'system' && systemIsDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

function readTheme(): Theme {
  const stored = readStored('theme');
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}
