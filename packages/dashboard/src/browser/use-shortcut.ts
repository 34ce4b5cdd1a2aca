import { useEffectEvent, useLayoutEffect } from 'react';
import { readStored } from './stored.ts';

/** The stored choice whether single-key shortcuts are on (the default). They get in the way of speech input. */
export const SINGLE_KEYS = ['on', 'off'] as const;

/**
 * Calls `run` when a key is pressed outside of fields and dialogs: `'/'`, `'n'`, `'?'`. With `Mod+` (Ctrl or
 * Cmd), as in `'Mod+k'`, also inside of them.
 */
export function useShortcut(key: string, run: (event: KeyboardEvent) => void): void {
  const onPress = useEffectEvent(run);
  // Before the screen is painted: its keys work as soon as it is seen.
  useLayoutEffect(() => {
    const needsModifier = key.startsWith('Mod+');
    const name = needsModifier ? key.slice('Mod+'.length) : key;
    function onKey(event: KeyboardEvent): void {
      if (event.key.toLowerCase() !== name || event.defaultPrevented || event.altKey) return;
      if ((event.ctrlKey || event.metaKey) !== needsModifier) return;
      if (!needsModifier && (isBusy(event) || readStored('single-keys') === 'off')) return;
      event.preventDefault();
      onPress(event);
    }
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [key]);
}

/** Whether a field, an open dialog, a menu or a list uses the keys. */
function isBusy(event: KeyboardEvent): boolean {
  // The editor of values is in a shadow root: outside of it, the event's target is only the host.
  const [target] = event.composedPath();
  if (document.querySelector('dialog[open], :popover-open') !== null) return true;
  if (!(target instanceof HTMLElement)) return false;
  const isField = target.matches('textarea, select, [contenteditable="true"]');
  return isField || (target instanceof HTMLInputElement && !['checkbox', 'radio'].includes(target.type));
}
