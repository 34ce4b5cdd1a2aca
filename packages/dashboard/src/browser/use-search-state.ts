import { useCallback } from 'react';
import { useLocation, useSearchParams } from 'wouter';

/** State that a screen keeps in its URL. Empty members are left out. */
export function useSearchState(): readonly [
  URLSearchParams,
  (members: Readonly<Record<string, string | undefined>>) => void,
] {
  const [params, setParams] = useSearchParams();
  const [pathname] = useLocation();
  const set = useCallback(
    (members: Readonly<Record<string, string | undefined>>) => {
      // A late update, as after a pause in typing, must not bring back a screen that was left.
      if (location.pathname !== pathname) return;
      setParams(
        (current) => {
          const next = new URLSearchParams(current);
          for (const [name, value] of Object.entries(members)) {
            if (value === undefined || value === '') next.delete(name);
            else next.set(name, value);
          }
          return next;
        },
        { replace: true },
      );
    },
    [setParams, pathname],
  );
  return [params, set];
}

/**
 * Whether the screen's dialog that creates something is open, held by the address as `new`, so that links can open it.
 * Both functions are stable.
 */
export function useCreating(): {
  readonly isCreating: boolean;
  readonly start: () => void;
  readonly stop: () => void;
} {
  const [params, setParams] = useSearchState();
  const start = useCallback(() => setParams({ new: '1' }), [setParams]);
  const stop = useCallback(() => setParams({ new: '' }), [setParams]);
  return { isCreating: params.has('new'), start, stop };
}
