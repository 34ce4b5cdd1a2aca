import { useSyncExternalStore } from 'react';
import { readStored, writeStored } from './stored.ts';

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
