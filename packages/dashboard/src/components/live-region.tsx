import { useSyncExternalStore } from 'react';

let message = '';
const listeners = new Set<() => void>();

/** Has screen readers say `text` without moving anything on the screen. */
export function announce(text: string): void {
  // The same words twice would be said once: a blank at the end makes them other words.
  message = message === text ? `${text} ` : text;
  for (const listener of listeners) listener();
}

/** Where announcements stand; once on a page. */
export function LiveRegion() {
  const text = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => message,
  );
  return (
    <div role="status" aria-live="polite" className="sr-only" data-testid="live-region">
      {text}
    </div>
  );
}
