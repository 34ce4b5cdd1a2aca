import { topDialog } from './layers.ts';

/** How many places are remembered. */
const MOST = 100;

/** An element that had the focus. Another one may replace it, with the same label. */
interface Place {
  readonly element: HTMLElement;
  readonly label: string | null;
  /** Where it was in a list of records. */
  readonly row: RowPlace | undefined;
  /** A selector of what it belongs to elsewhere on the screen: `data-home` of an element around it. */
  readonly home: string | undefined;
}

/** The place of a control in a list: the row after a removed one takes its index. */
interface RowPlace {
  readonly list: Element;
  readonly index: number;
  /** The first word of its name, which is the same in all rows, such as "Revoke". */
  readonly verb: string;
  /** How many controls of its row follow it, and itself. */
  readonly fromEnd: number;
}

/** Where the focus has been, the latest place last. */
let places: readonly Place[] = [];

/** The path of the latest place: after a navigation the new screen takes the focus. */
let path = '';

/** Whether the latest place was disabled while it had the focus, as a button is while its request is under way. */
let isWaiting = false;

/** Whether the person took the focus away on purpose, as by a click beside all controls. */
let hasLeft = false;

/** Whether the person last used a key: then the page scrolls to where the focus goes. */
let isByKey = false;

/**
 * Browsers drop the focus when its element goes away or is disabled: keys then go nowhere, and screen readers start again at
 * the top. From now on, the focus returns to the element once it is enabled again, or moves to the element that replaced it, to
 * the same control of the next row, or to the place before it that still exists.
 */
export function keepFocus(): void {
  addEventListener('keydown', noteKey, { capture: true });
  for (const name of ['pointerdown', 'wheel'])
    addEventListener(name, notePointer, { capture: true, passive: true });

  addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLElement)) return;
    // What is gone may have been replaced, but not by another screen.
    const isSameScreen = location.pathname === path;
    const others = places.filter(
      ({ element }) => element !== target && (element.isConnected || isSameScreen),
    );
    const home = target.closest<HTMLElement>('[data-home]')?.dataset.home;
    const place = { element: target, label: target.ariaLabel, row: rowPlaceOf(target), home };
    places = [...others, place].slice(-MOST);
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

/** The element that has the focus, or had it before it was disabled; `undefined` once it does not exist. */
export function focusPlace(): HTMLElement | undefined {
  const latest = places.at(-1)?.element;
  return latest?.isConnected ? latest : undefined;
}

/** A key that is held down presses one button, not also those that get the focus in the meantime. */
function noteKey(event: KeyboardEvent): void {
  isByKey = true;
  if (event.repeat && event.key === 'Enter' && event.target instanceof HTMLButtonElement)
    event.preventDefault();
}

function notePointer(): void {
  isByKey = false;
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
    if (isWaiting) take(latest);
    return;
  }

  // A row that was scrolled out of view comes back while the list has others, and the new screen of an address takes the focus itself.
  const canComeBack = latest.closest('[data-row]') !== null && document.querySelector('[data-row]') !== null;
  if (canComeBack || location.pathname !== path) return;
  const next = nextPlace();
  if (next) take(next);
}

function take(place: HTMLElement): void {
  place.focus({ preventScroll: !isByKey });
}

/**
 * The element that replaced the latest place, what it belongs to, the same control of the next row, or the latest place that still
 * exists, inside the dialog that is open; otherwise the heading of the screen.
 */
function nextPlace(): HTMLElement | null {
  const dialog = topDialog();
  const screen = dialog ?? document.querySelector('main');
  const isInside = (place: HTMLElement) => canTake(place) && (dialog?.contains(place) ?? true);

  const latest = places.at(-1);
  const [next] = [latest && nowOf(latest, screen), latest?.row && neighborOf(latest.row)].filter(
    (each) => each && isInside(each),
  );
  if (next) return next;

  const inside = places.flatMap((place) => nowOf(place, screen) ?? []).filter(isInside);
  if (dialog) return inside.at(-1) ?? dialog.querySelector<HTMLElement>('button, input');
  // Outside of dialogs single keys are commands, which a field would take as text.
  return inside.findLast((place) => !place.matches(FIELD)) ?? document.querySelector<HTMLElement>('main h1');
}

/** What stands for a place now: its element, the one that has replaced it, or what it belongs to. */
function nowOf(place: Place, screen: Element | null): HTMLElement | null | undefined {
  const present = presentOf(place, screen);
  if (place.home === undefined || (present && canTake(present))) return present;
  return screen?.querySelector<HTMLElement>(place.home);
}

/** The element of a place, or the one that has replaced it, as a button that edits replaces one that adds. */
function presentOf({ element, label }: Place, screen: Element | null): HTMLElement | null | undefined {
  if (element.isConnected || label === null) return element;
  return screen?.querySelector<HTMLElement>(`[aria-label=${JSON.stringify(label)}]`);
}

const ROW = 'tbody > tr, li';
const CONTROL = 'a[href], button, input, select, textarea, summary';

function rowPlaceOf(target: HTMLElement): RowPlace | undefined {
  const row = target.closest(ROW);
  const list = row?.parentElement;
  if (!row || !list) return undefined;

  const controls = controlsOf(row);
  return {
    list,
    index: [...list.children].indexOf(row),
    verb: verbOf(target),
    fromEnd: controls.length - controls.indexOf(target),
  };
}

/** The same control of the row that is now at a place or, at the end of the list, of the row before it. */
function neighborOf({ list, index, verb, fromEnd }: RowPlace): HTMLElement | undefined {
  if (!list.isConnected) return undefined;
  const rows = [list.children[index], list.children[index - 1]].flatMap((row) => row ?? []);
  const [controls = []] = rows.map(controlsOf).filter((each) => each.length > 0);
  return controls.find((each) => verbOf(each) === verb) ?? controls.at(-fromEnd) ?? controls[0];
}

function controlsOf(row: Element): readonly HTMLElement[] {
  return [...row.querySelectorAll<HTMLElement>(CONTROL)].filter(canTake);
}

function verbOf(control: HTMLElement): string {
  return (control.ariaLabel ?? control.textContent ?? '').trim().split(/\s/, 1)[0] ?? '';
}

const FIELD = 'textarea, select, [contenteditable], input:not([type="checkbox"], [type="radio"])';

function canTake(place: HTMLElement): boolean {
  return place.isConnected && place.getClientRects().length > 0 && !place.matches(':disabled');
}
