import { useState, useSyncExternalStore } from 'react';

/** What was said last; another object each time, so that the same words are known to have been said again. */
let message = { text: '' };
const listeners = new Set<() => void>();

/** Has screen readers say `text` without moving anything on the screen. */
export function announce(text: string): void {
  // The same words twice would be said once: a blank at the end makes them other words.
  message = { text: message.text === text ? `${text} ` : text };
  for (const listener of listeners) listener();
}

/**
 * Where announcements stand, from when it is there: once on a page, and once in each modal dialog, since screen readers
 * hear nothing of what is outside of one.
 */
export function LiveRegion() {
  const [before] = useState(message);
  const latest = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => message,
  );
  return (
    <div role="status" aria-live="polite" className="sr-only" data-testid="live-region">
      {latest === before ? '' : latest.text}
    </div>
  );
}
