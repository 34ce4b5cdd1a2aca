/** How much of the window each bar covers, in pixels. */
const covered = new Map<HTMLElement, number>();

/**
 * For the `ref` of a bar at the foot of the window: messages stand above it, and it does not cover what has the focus. In a
 * rule with `:has()` the browser would look at every element again after each change of the page.
 */
export function clearOfBar(bar: HTMLElement | null): (() => void) | undefined {
  if (bar === null) return undefined;

  const observer = new ResizeObserver(() => {
    covered.set(bar, coverOf(bar));
    tellPage();
    showFocused(bar);
  });
  observer.observe(bar);
  return () => {
    observer.disconnect();
    covered.delete(bar);
    tellPage();
  };
}

/** A bar that does not stick covers nothing: it is at the end of the page. */
function coverOf(bar: HTMLElement): number {
  const { position, bottom } = getComputedStyle(bar);
  if (position !== 'sticky' || bar.offsetHeight === 0) return 0;
  return bar.offsetHeight + Number.parseFloat(bottom);
}

/** As `styles.css` reads it. */
function tellPage(): void {
  const { documentElement: root } = document;
  const height = Math.max(0, ...covered.values());
  root.toggleAttribute('data-covered', height > 0);
  if (height > 0) root.style.setProperty('--bottom-bar', `${height}px`);
  else root.style.removeProperty('--bottom-bar');
}

/** Scrolls the control that has the focus out from under the bar. */
function showFocused(bar: HTMLElement): void {
  const { activeElement } = document;
  const isBeside = activeElement !== null && !bar.contains(activeElement);
  if (!isBeside || !bar.parentElement?.contains(activeElement)) return;
  if (activeElement.getBoundingClientRect().bottom > innerHeight - (covered.get(bar) ?? 0))
    activeElement.scrollIntoView({ block: 'nearest' });
}
