import { useId, useLayoutEffect } from 'react';
import type { AroundNavHandler } from 'wouter';
import { useConfirm } from '../components/confirm.tsx';

/** Who would lose something when the screen is left; by their ids. */
const guards = new Map<string, () => Promise<boolean>>();

/** The address that is being guarded. */
let guarded = '';

// Before the router's own: what is stopped here never reaches it.
addEventListener('popstate', onBackOrForward, { capture: true });
addEventListener('beforeunload', (event) => {
  if (guards.size > 0) event.preventDefault();
});

/** Asks before the screen is left while `isDirty`: by a link, by "back", and by closing the tab. `what` says what would be lost. */
export function useLeaveGuard(isDirty: boolean, what: string): void {
  const id = useId();
  const confirm = useConfirm();
  // Not a passive effect: a screen that is taken away because the session has ended must not be asked any more.
  useLayoutEffect(() => {
    if (!isDirty) return;
    guarded = location.href;
    guards.set(id, () =>
      confirm({ title: 'Leave without saving?', body: what, action: 'Leave', isDangerous: true }),
    );
    return () => {
      guards.delete(id);
    };
  }, [id, isDirty, what, confirm]);
}

/** Goes to an address of the dashboard, unless somebody would lose something and wants to stay. */
export const leaveCarefully: AroundNavHandler = (navigate, to, options) => {
  const isElsewhere = new URL(to, location.href).pathname !== location.pathname;
  if (!isElsewhere || guards.size === 0) {
    navigate(to, options);
    return;
  }
  void askAll().then((mayLeave) => {
    if (mayLeave) navigate(to, options);
  });
};

/** Loads an address of the dashboard anew without asking anybody: everything that was shown or typed is forgotten. */
export function leaveAtOnce(to: string): void {
  guards.clear();
  location.assign(to);
}

/** The browser has gone already: it is brought back, and goes again when it may. "Forward" then goes back too. */
function onBackOrForward(event: PopStateEvent): void {
  if (guards.size === 0 || location.href === guarded) return;
  event.stopImmediatePropagation();
  history.pushState(null, '', guarded);
  void askAll().then((mayLeave) => {
    if (mayLeave) history.back();
  });
}

/** One question is enough, however much would be lost. */
async function askAll(): Promise<boolean> {
  const [ask] = guards.values();
  if (ask === undefined || !(await ask())) return ask === undefined;
  guards.clear();
  return true;
}
