import { type ReactNode, useEffect, useRef, useState } from 'react';

/** How far outside of the screen a part of a list is still drawn, in pixels. */
const MARGIN_PX = 1200;

/**
 * A part of a long list that is drawn only while it is near the screen; otherwise an empty box of the same height keeps
 * its place. A part with the focus in it stays.
 */
export function FarAway({ children }: { children: ReactNode }) {
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
      { root: box.closest('main'), rootMargin: `${MARGIN_PX}px 0px` },
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
