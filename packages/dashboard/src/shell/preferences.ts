import { useCallback, useSyncExternalStore } from 'react';

/** What was stored since the page was opened: storage may be disabled or full. */
const written = new Map<string, string>();
const watchers = new Set<() => void>();

window.addEventListener('storage', ({ key }) => {
  // Another tab has stored something; `null`: everything was cleared.
  if (key === null) written.clear();
  else written.delete(key.replace(/^halyard\./, ''));
  for (const watcher of watchers) watcher();
});

/** A text that this browser stores under a name, the same everywhere on the page, and a function to replace it. */
export function useStored(name: string): readonly [string | undefined, (text: string) => void] {
  const text = useSyncExternalStore(watch, () => readStored(name));
  const set = useCallback((next: string) => writeStored(name, next), [name]);
  return [text, set];
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

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
  for (const watcher of watchers) watcher();
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
