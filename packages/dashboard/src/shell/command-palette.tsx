import { lazy, Suspense, useCallback, useState } from 'react';
import { Dialog } from '../components/dialog.tsx';
import { useShortcut } from '../components/use-shortcut.ts';
import { PALETTE_FIELD, PALETTE_FRAME, PALETTE_HINT } from './palette-looks.ts';
import { PartBoundary } from './part-boundary.tsx';
import { useNavigationKeys } from './use-navigation-keys.ts';

const Palette = lazy(async () => ({ default: (await import('./palette/palette.tsx')).Palette }));
const KeyboardHelp = lazy(async () => ({
  default: (await import('./palette/keyboard-help.tsx')).KeyboardHelp,
}));

/** Everything that can be done, by typing (Ctrl+K or Cmd+K), and the list of all keys (`?`). */
export function CommandPalette() {
  const [open, setOpen] = useState<'palette' | 'help'>();
  const [text, setText] = useState('');
  const close = useCallback(() => {
    setOpen(undefined);
    setText('');
  }, []);
  const showHelp = useCallback(() => setOpen('help'), []);
  useShortcut(
    'Mod+k',
    useCallback(() => {
      setText('');
      setOpen((current) => (current === 'palette' ? undefined : 'palette'));
    }, []),
  );
  useShortcut('?', showHelp);
  useNavigationKeys();
  return (
    <PartBoundary
      place={open ?? 'closed'}
      frame={(title, content) => (
        <Dialog title={title} onClose={close}>
          {content}
        </Dialog>
      )}
    >
      <Suspense fallback={open === 'palette' && <Loading text={text} onType={setText} onClose={close} />}>
        {open === 'palette' && <Palette text={text} onType={setText} onClose={close} onHelp={showHelp} />}
        {open === 'help' && <KeyboardHelp onClose={close} />}
      </Suspense>
    </PartBoundary>
  );
}

/**
 * Takes what is typed until the palette is there: without it the first letters would go to the screen below, where
 * they are keys of their own and may flip a switch.
 */
function Loading({
  text,
  onType,
  onClose,
}: {
  text: string;
  onType: (text: string) => void;
  onClose: () => void;
}) {
  return (
    <Dialog title="Commands" frame="bare" onClose={onClose} className={PALETTE_FRAME}>
      <input
        data-autofocus
        aria-label="Commands"
        value={text}
        onChange={(event) => onType(event.target.value)}
        placeholder={PALETTE_HINT}
        className={PALETTE_FIELD}
      />
    </Dialog>
  );
}
