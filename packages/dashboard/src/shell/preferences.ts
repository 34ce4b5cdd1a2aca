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

/** What a person chose; `system` follows the machine. */
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

/** The theme that is chosen, and how to choose another. */
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
