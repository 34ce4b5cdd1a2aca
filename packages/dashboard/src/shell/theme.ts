import { useSyncExternalStore } from 'react';

/** What a person chose; `system` follows the machine. */
export type Theme = 'light' | 'dark' | 'system';

/** The same name stands in `theme-boot.ts`, which runs before this. */
const STORED = 'halyard.theme';
const systemIsDark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();
let chosen: Theme = read();

systemIsDark.addEventListener('change', apply);
window.addEventListener('storage', ({ key }) => {
  if (key !== STORED) return;
  chosen = read();
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
  try {
    if (theme === 'system') localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, theme);
  } catch {
    // Storage is switched off: the choice lasts as long as the page.
  }
  apply();
}

function apply(): void {
  const isDark = chosen === 'dark' || (chosen === 'system' && systemIsDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  for (const listener of listeners) listener();
}

function read(): Theme {
  try {
    const stored = localStorage.getItem(STORED);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    // As above.
    return 'system';
  }
}
