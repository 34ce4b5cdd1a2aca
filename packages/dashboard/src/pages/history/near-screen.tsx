import { type ReactNode, useEffect, useRef, useState } from 'react';
import { scrollBoxOf } from '../../components/windowing.ts';

/** How far outside of the screen a part of a list is still drawn, in pixels. */
const MARGIN_PX = 1200;

/** How many change numbers are drawn together, or not at all. */
const PART = 20;

/** A long list, newest first, of which only the parts near the screen are drawn. */
export function Parts<Item>({
  items,
  seqOf,
  children,
}: {
  items: readonly Item[];
  seqOf: (item: Item) => number;
  /** Renders a list item. */
  children: (item: Item) => ReactNode;
}) {
  return partsOf(items, seqOf).map(([name, part]) => (
    <NearScreen key={name}>
      <ol>{part.map(children)}</ol>
    </NearScreen>
  ));
}

/** Items in parts by their number: a part stays the same when others are put before or after it. */
function partsOf<Item>(
  items: readonly Item[],
  seqOf: (item: Item) => number,
): readonly (readonly [name: string, part: readonly Item[]])[] {
  const parts: [string, Item[]][] = [];
  const times = new Map<number, number>();
  let last: number | undefined;
  for (const item of items) {
    const number = Math.floor(seqOf(item) / PART);
    if (number === last) parts.at(-1)?.[1].push(item);
    else {
      // Operations that overlapped may be out of order.
      const time = times.get(number) ?? 0;
      times.set(number, time + 1);
      parts.push([`${number} ${time}`, [item]]);
    }
    last = number;
  }
  return parts;
}

/**
 * A part of a long list that is drawn only while it is near the screen; otherwise an empty box of the same height keeps
 * its place. A part with the focus in it stays.
 */
function NearScreen({ children }: { children: ReactNode }) {
  const ref = useRef<HTMLDivElement>(null);
  const [height, setHeight] = useState<number>();

  useEffect(() => {
    const box = ref.current;
    if (box === null) return;
    const observer = new IntersectionObserver(
      (entries) => {
        const latest = entries.at(-1);
        if (latest === undefined) return;
        if (latest.isIntersecting) setHeight(undefined);
        else if (!box.contains(document.activeElement)) setHeight(latest.boundingClientRect.height);
      },
      { root: scrollBoxOf(box), rootMargin: `${MARGIN_PX}px 0px` },
    );
    observer.observe(box);
    return () => observer.disconnect();
  }, []);

  return (
    <div ref={ref} style={height === undefined ? undefined : { height }}>
      {height === undefined && children}
    </div>
  );
}
