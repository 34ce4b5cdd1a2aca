import { type Dispatch, type SetStateAction, useCallback, useEffect, useState } from 'react';
import { useLocation, useRoute } from 'wouter';
import { PROJECT_SCREENS, PROJECT_SETTINGS, useCurrentProject } from '../browser/links.ts';
import { useShortcut } from '../browser/use-shortcut.ts';
import { Dialog } from '../components/dialog.tsx';
import { inDialog } from '../components/dialog-part.tsx';
import { lazyPart } from '../components/lazy-part.ts';
import { PartBoundary } from '../components/part-boundary.tsx';
import { messages } from './messages.ts';
import { PALETTE_FIELD, PALETTE_FRAME } from './palette-style.ts';
import { remember } from './recent.ts';

const Palette = lazyPart(() => import('./palette/palette.tsx'), 'Palette');
const KeyboardHelp = lazyPart(() => import('./palette/keyboard-help.tsx'), 'KeyboardHelp');

/** The command palette (Ctrl+K or Cmd+K), and the list of all keys (`?`). */
export function CommandPalette({
  open,
  onOpen,
  onHelp,
}: {
  /** Which of them is open. */
  open: 'palette' | 'help' | undefined;
  /** Keep both stable. */
  onOpen: Dispatch<SetStateAction<'palette' | 'help' | undefined>>;
  onHelp: () => void;
}) {
  const [text, setText] = useState('');
  const close = useCallback(() => {
    onOpen(undefined);
    setText('');
  }, [onOpen]);
  useShortcut('Mod+k', () => {
    setText('');
    onOpen((current) => (current === 'palette' ? undefined : 'palette'));
  });
  useShortcut('?', onHelp);
  useNavigationKeys();
  useVisitedFlags();

  return (
    <PartBoundary
      place={open ?? 'closed'}
      frame={inDialog(close)}
      fallback={open === 'palette' && <Loading text={text} onType={setText} onClose={close} />}
    >
      {open === 'palette' && <Palette text={text} onType={setText} onClose={close} onHelp={onHelp} />}
      {open === 'help' && <KeyboardHelp onClose={close} />}
    </PartBoundary>
  );
}

/**
 * Takes the input until the palette is loaded: otherwise the first letters would reach the screen below as shortcuts,
 * and might flip a switch.
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
    <Dialog title={messages.palette.title} frame="bare" onClose={onClose} className={PALETTE_FRAME}>
      <input
        data-autofocus
        aria-label={messages.palette.title}
        value={text}
        onChange={(event) => onType(event.target.value)}
        placeholder={messages.palette.hint}
        className={PALETTE_FIELD}
      />
    </Dialog>
  );
}

/** Remembers the flags whose pages are opened, however they are reached. */
function useVisitedFlags(): void {
  const [isFlag, place] = useRoute<{ project: string; key: string }>('/projects/:project/flags/:key');
  const { project = '', key = '' } = place ?? {};
  useEffect(() => {
    if (isFlag) remember(project, `flag.go.${key}`);
  }, [isFlag, project, key]);
}

/** How long after `g` the second key counts, in milliseconds. */
const PAUSE_MS = 1_500;

/** `g` and then a letter goes to a screen of the project: `g h` to the history. */
function useNavigationKeys(): void {
  const project = useCurrentProject();
  const [, navigate] = useLocation();
  useShortcut('g', ({ timeStamp: startedAt }) => {
    const listener = (event: KeyboardEvent): void => {
      const screen = [...PROJECT_SCREENS, ...PROJECT_SETTINGS].find(({ key }) => key === event.key);
      // When it was pressed: a busy page comes to it later.
      const isInTime = event.timeStamp - startedAt < PAUSE_MS;
      if (screen === undefined || project === undefined || !isInTime || event.ctrlKey || event.metaKey)
        return;
      event.preventDefault();
      event.stopPropagation();
      navigate(screen.to(project));
    };
    // Before the screen's own keys: one of them may be the same.
    addEventListener('keydown', listener, { once: true, capture: true });
  });
}
