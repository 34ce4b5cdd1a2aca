import type { AroundNavHandler } from 'wouter';

/** The questions to ask before leaving the screen. */
const guards = new Map<symbol, () => Promise<boolean>>();

/** The address that is being guarded. */
let guarded = '';

// Before the router's own listeners, which then never see a navigation that is stopped here.
addEventListener('popstate', onBackOrForward, { capture: true });
addEventListener('beforeunload', (event) => {
  if (guards.size > 0) event.preventDefault();
});

/** Asks before leaving the screen by a link, by "back" or by closing the tab. Returns the function that stops it. */
export function guardScreen(ask: () => Promise<boolean>): () => void {
  const id = Symbol();
  guarded = location.href;
  guards.set(id, ask);
  return () => void guards.delete(id);
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
