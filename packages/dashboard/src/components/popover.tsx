import { type ReactNode, type RefObject, useEffectEvent, useLayoutEffect, useRef } from 'react';
import { classNames } from './class-names.ts';
import { addLayer, isTopLayer } from './layers.ts';

/** Distances in pixels: from what it belongs to, and from the edges of the window. And the least width. */
const [GAP_PX, EDGE_PX, LEAST_PX] = [4, 8, 192];

/**
 * A layer beside `anchor`, above everything else, dialogs included. Render it only while it is open: a press outside of
 * both closes it, and so does Escape, wherever the focus is, which then returns to the anchor. It takes the focus only for an
 * element with `data-autofocus`.
 */
export function Popover({
  anchor,
  align = 'start',
  className,
  onClose,
  children,
}: {
  anchor: RefObject<HTMLElement | null>;
  align?: 'start' | 'end' | undefined;
  className?: string;
  onClose: () => void;
  children: ReactNode;
}) {
  const ref = useRef<HTMLDivElement>(null);
  const close = useEffectEvent(onClose);

  useLayoutEffect(() => {
    const [layer, owner] = [ref.current, anchor.current];
    if (layer === null || owner === null) return;
    layer.showPopover();
    layer.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    const stopFollowing = follow(layer, owner, align);
    const removeLayer = addLayer(layer);
    const onPress = ({ target }: Event) => {
      // Events of the window have no other targets.
      if (!layer.contains(target as Node) && !owner.contains(target as Node)) close();
    };
    // Wherever the focus is, and before the dialog around it or the screen below can take the key.
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || !isTopLayer(layer)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      close();
      owner.focus();
    };
    addEventListener('pointerdown', onPress, { capture: true });
    addEventListener('keydown', onKey, { capture: true });
    return () => {
      stopFollowing();
      removeLayer();
      removeEventListener('pointerdown', onPress, { capture: true });
      removeEventListener('keydown', onKey, { capture: true });
    };
  }, [anchor, align]);

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only watches the focus of the controls inside
    <div
      ref={ref}
      popover="manual"
      className={classNames(
        'fixed inset-auto m-0 w-max max-w-[calc(100vw-1rem)] overflow-y-auto rounded-lg border border-line bg-raised p-1 text-left text-sm font-normal whitespace-normal text-ink shadow-pop',
        className,
      )}
      onBlur={({ relatedTarget }) => {
        if (relatedTarget === null || ref.current?.contains(relatedTarget)) return;
        if (!anchor.current?.contains(relatedTarget)) onClose();
      }}
    >
      {children}
    </div>
  );
}

/** Keeps the layer beside its owner, whatever moves either of them, such as an error in the form around it. */
function follow(layer: HTMLElement, owner: HTMLElement, align: 'start' | 'end'): () => void {
  let placed = '';
  let frame = 0;
  const check = () => {
    const { left, top } = owner.getBoundingClientRect();
    const now = [
      left,
      top,
      owner.offsetWidth,
      owner.offsetHeight,
      layer.offsetWidth,
      layer.scrollHeight,
      innerHeight,
      innerWidth,
      visualViewport?.height,
      visualViewport?.offsetTop,
    ].join();
    if (now !== placed) placeBeside(layer, owner, align);
    placed = now;
    frame = requestAnimationFrame(check);
  };
  check();
  return () => cancelAnimationFrame(frame);
}

/** Below the anchor, or above it where there is more space; always inside the window, and not behind the keyboard of a phone. */
function placeBeside(layer: HTMLElement, owner: HTMLElement, align: 'start' | 'end'): void {
  const { left, right, top, bottom } = owner.getBoundingClientRect();
  const { height, offsetTop } = visualViewport ?? { height: innerHeight, offsetTop: 0 };
  const below = offsetTop + height - bottom - GAP_PX - EDGE_PX;
  const above = top - offsetTop - GAP_PX - EDGE_PX;
  const isBelow = layer.scrollHeight <= below || below >= above;
  const { style, offsetWidth } = layer;
  style.maxHeight = `${Math.max(80, Math.min(isBelow ? below : above, height * 0.7))}px`;
  style.minWidth = `${Math.min(Math.max(owner.offsetWidth, LEAST_PX), innerWidth - 2 * EDGE_PX)}px`;
  style.top = `${isBelow ? bottom + GAP_PX : top - GAP_PX - layer.offsetHeight}px`;
  const wanted = align === 'start' ? left : right - offsetWidth;
  style.left = `${Math.max(EDGE_PX, Math.min(wanted, innerWidth - offsetWidth - EDGE_PX))}px`;
}
