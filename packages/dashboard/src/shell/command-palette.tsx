import { lazy, Suspense, useCallback, useState } from 'react';
import { useShortcut } from '../components/use-shortcut.ts';
import { useNavigationKeys } from './use-navigation-keys.ts';

const Palette = lazy(async () => ({ default: (await import('./palette/palette.tsx')).Palette }));
const KeyboardHelp = lazy(async () => ({
  default: (await import('./palette/keyboard-help.tsx')).KeyboardHelp,
}));

/** Everything that can be done, by typing (Ctrl+K or Cmd+K), and the list of all keys (`?`). */
export function CommandPalette() {
  const [open, setOpen] = useState<'palette' | 'help'>();
  const close = useCallback(() => setOpen(undefined), []);
  const showHelp = useCallback(() => setOpen('help'), []);
  useShortcut(
    'Mod+k',
    useCallback(() => setOpen((current) => (current === 'palette' ? undefined : 'palette')), []),
  );
  useShortcut('?', showHelp);
  useNavigationKeys();
  return (
    <Suspense fallback={null}>
      {open === 'palette' && <Palette onClose={close} onHelp={showHelp} />}
      {open === 'help' && <KeyboardHelp onClose={close} />}
    </Suspense>
  );
}
