import { useId, useLayoutEffect } from 'react';
import type { AroundNavHandler } from 'wouter';
import { useConfirm } from '../components/confirm.tsx';
import { messages } from './messages.ts';

/** The questions to ask before leaving the screen, by the ID of their component. */
const guards = new Map<string, () => Promise<boolean>>();

/** The address that is being guarded. */
let guarded = '';

// Before the router's own listeners, which then never see a navigation that is stopped here.
addEventListener('popstate', onBackOrForward, { capture: true });
addEventListener('beforeunload', (event) => {
  if (guards.size > 0) event.preventDefault();
});

/** While `isDirty`, asks before leaving the screen by a link, by "back" or by closing the tab. `what` names the loss. */
export function useLeaveGuard(isDirty: boolean, what: string): void {
  const id = useId();
  const confirm = useConfirm();
  // Not a passive effect: a screen that unmounts because the session ended must not ask.
  useLayoutEffect(() => {
    if (!isDirty) return;
    guarded = location.href;
    guards.set(id, () =>
      confirm({ title: messages.leave.title, body: what, action: messages.leave.action, isDangerous: true }),
    );
    return () => {
      guards.delete(id);
    };
  }, [id, isDirty, what, confirm]);
}

/** Navigates to an address of the dashboard, after a question where edits would be lost. */
export const leaveCarefully: AroundNavHandler = (navigate, to, options) => {
  const isElsewhere = new URL(to, location.href).pathname !== location.pathname;
  if (!isElsewhere || guards.size === 0) {
    navigate(to, options);
    return;
  }
  void askToLeave().then((mayLeave) => {
    if (mayLeave) navigate(to, options);
  });
};

/** Reloads the dashboard at an address without a question: all state of the page is dropped. */
export function leaveAtOnce(to: string): void {
  guards.clear();
  location.assign(to);
}

/** The browser has already navigated: goes back, and navigates again if allowed. This also handles "forward". */
function onBackOrForward(event: PopStateEvent): void {
  if (guards.size === 0 || location.href === guarded) return;
  event.stopImmediatePropagation();
  history.pushState(null, '', guarded);
  void askToLeave().then((mayLeave) => {
    if (!mayLeave) return;
    guards.clear();
    history.back();
  });
}

/** Whether the person may leave the screen: asks once, even if several edits would be lost. */
export async function askToLeave(): Promise<boolean> {
  const [ask] = guards.values();
  return ask === undefined || (await ask());
}
