import { useState, useSyncExternalStore } from 'react';
import { createWatchers } from '../browser/watchers.ts';

/** The last announcement. A new object each time, so that a repeated text is announced again. */
let message = { text: '' };
const { watch, tell } = createWatchers();

/** Announces `text` to screen readers. */
export function announce(text: string): void {
  // Screen readers skip a repeated text; a space at the end makes it a new one.
  message = { text: message.text === text ? `${text} ` : text };
  tell();
}

/**
 * The element with the announcements since it was mounted. The page has one, and so does each modal dialog, because
 * screen readers ignore everything outside of an open one.
 */
export function LiveRegion() {
  const [before] = useState(message);
  const latest = useSyncExternalStore(watch, () => message);
  return (
    <div role="status" aria-live="polite" className="sr-only" data-testid="live-region">
      {latest === before ? '' : latest.text}
    </div>
  );
}
