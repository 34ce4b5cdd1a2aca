import { useState, useSyncExternalStore } from 'react';

let message = '';
const listeners = new Set<() => void>();

/** Has screen readers say `text` without moving anything on the screen. */
export function announce(text: string): void {
  // The same words twice would be said once: a blank at the end makes them other words.
  message = message === text ? `${text} ` : text;
  for (const listener of listeners) listener();
}

/**
 * Where announcements stand, from when it is there: once on a page, and once in each modal dialog, since screen readers
 * hear nothing of what is outside of one.
 */
export function LiveRegion() {
  const [before] = useState(message);
  const text = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => message,
  );
  return (
    <div role="status" aria-live="polite" className="sr-only" data-testid="live-region">
      {text === before ? '' : text}
    </div>
  );
}
