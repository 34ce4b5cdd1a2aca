import { topDialog } from './layers.ts';

/** How many places are remembered. */
const MOST = 100;

/** An element that had the focus. Another one may replace it, with the same label. */
interface Place {
  readonly element: HTMLElement;
  readonly label: string | null;
}

/** Where the focus has been, the latest place last. */
let places: readonly Place[] = [];

/** The path of the latest place: after a navigation the new screen takes the focus. */
let path = '';

/** Whether the latest place was disabled while it had the focus, as a button is while its request is under way. */
let isWaiting = false;

/** Whether the person took the focus away on purpose, as by a click beside all controls. */
let hasLeft = false;

/**
 * Browsers drop the focus when its element goes away or is disabled: keys then go nowhere, and screen readers start again at
 * the top. From now on, the focus returns to the element once it is enabled again, or moves to the element that replaced it, or
 * to the place before it that still exists.
 */
export function keepFocus(): void {
  addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    // What is gone may have been replaced, but not by another screen.
    const isSameScreen = location.pathname === path;
    const others = places.filter(
      ({ element }) => element !== target && (element.isConnected || isSameScreen),
    );
    places = [...others, { element: target, label: target.ariaLabel }].slice(-MOST);
    path = location.pathname;
    isWaiting = false;
    hasLeft = false;
  });
  addEventListener('focusout', ({ target }) => {
    if (target instanceof Element && target.matches(':disabled')) isWaiting = true;
    else setTimeout(noteIfLeft);
  });

  let isDue = false;
  const observer = new MutationObserver(() => {
    if (isDue) return;
    isDue = true;
    // After what the components do themselves, and once for all mutations of a frame.
    requestAnimationFrame(() => {
      isDue = false;
      restoreFocus();
    });
  });
  observer.observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
}

/** Notes that nothing has the focus although the latest place could have it. */
function noteIfLeft(): void {
  const latest = places.at(-1)?.element;
  hasLeft = document.activeElement === document.body && latest !== undefined && canTake(latest);
}

function restoreFocus(): void {
  const latest = places.at(-1)?.element;
  if (latest === undefined || hasLeft) return;

  // It still has the focus: the browser drops it only when it draws the page.
  if (latest.isConnected && latest.matches(':disabled')) {
    isWaiting = true;
    return;
  }
  if (document.activeElement !== document.body) return;
  if (canTake(latest)) {
    if (isWaiting) latest.focus({ preventScroll: true });
    return;
  }

  // A row that was scrolled out of view comes back while the list has others, and the new screen of an address takes the focus itself.
  const canComeBack = latest.closest('[data-row]') !== null && document.querySelector('[data-row]') !== null;
  if (canComeBack || location.pathname !== path) return;
  placeBefore()?.focus({ preventScroll: true });
}

/** The latest place that still exists, or was replaced, inside the dialog that is open; otherwise the heading of the screen. */
function placeBefore(): HTMLElement | null {
  const dialog = topDialog();
  const inside = places
    .flatMap((place) => presentOf(place, dialog ?? document.querySelector('main')) ?? [])
    .filter((place) => canTake(place) && (dialog?.contains(place) ?? true));
  if (dialog) return inside.at(-1) ?? dialog.querySelector<HTMLElement>('button, input');
  // Outside of dialogs single keys are commands, which a field would take as text.
  return inside.findLast((place) => !place.matches(FIELD)) ?? document.querySelector<HTMLElement>('main h1');
}

/** The element of a place, or the one that has replaced it, as a button that edits replaces one that adds. */
function presentOf({ element, label }: Place, screen: Element | null): HTMLElement | null | undefined {
  if (element.isConnected || label === null) return element;
  return screen?.querySelector<HTMLElement>(`[aria-label=${JSON.stringify(label)}]`);
}

const FIELD = 'textarea, select, [contenteditable], input:not([type="checkbox"], [type="radio"])';

function canTake(place: HTMLElement): boolean {
  return place.isConnected && place.getClientRects().length > 0 && !place.matches(':disabled');
}
