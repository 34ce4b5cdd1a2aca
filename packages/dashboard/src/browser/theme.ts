import { readStored, useStoredChoice, watchStored } from './stored.ts';

/** The themes to choose from; `system` follows the operating system. */
export const THEMES = ['light', 'dark', 'system'] as const;

const systemIsDark = matchMedia('(prefers-color-scheme: dark)');

systemIsDark.addEventListener('change', apply);
watchStored(apply);

/** The selected theme, and a function to select another. `theme-boot.ts` reads it before the first paint. */
export function useTheme() {
  return useStoredChoice('theme', THEMES, 'system');
}

function apply(): void {
  const chosen = readStored('theme');
  const isDark = chosen === 'dark' || (chosen !== 'light' && systemIsDark.matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}
