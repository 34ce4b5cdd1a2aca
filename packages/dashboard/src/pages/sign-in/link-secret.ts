import { useEffect, useState } from 'react';

/**
 * The secret of a one-time link, which stands after the `#` that no server sees. Taken out of the address bar and of
 * the history at once. Empty when there is none.
 */
export function useLinkSecret(): string {
  const [secret] = useState(takeSecret);
  useEffect(() => {
    addEventListener('hashchange', openAnew);
    return () => removeEventListener('hashchange', openAnew);
  }, []);
  return secret;
}

/** Another link in the same tab differs after the `#` only, which loads nothing by itself. */
function openAnew(): void {
  if (location.hash.length > 1) location.reload();
}

let taken = '';

/** Taken once per page: a second reading finds the address already clean. */
function takeSecret(): string {
  const found = location.hash.slice(1);
  if (found !== '') {
    taken = found;
    history.replaceState(history.state, '', location.pathname + location.search);
  }
  return taken;
}
