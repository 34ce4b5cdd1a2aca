import type { ReactNode } from 'react';
import { PartBoundary } from './part-boundary.tsx';
import { SkeletonRows } from './screen-states.tsx';

/** A part that its screen works without: nothing stands in its place while its file is loaded, and when it fails. */
export function SparePart({ children }: { children: ReactNode }) {
  return (
    <PartBoundary place="spare" frame={() => null}>
      {children}
    </PartBoundary>
  );
}

/** A section of a screen whose file is loaded when it is first shown. It says itself that it failed. `rows`: how long it is, about. */
export function SectionPart({ rows, children }: { rows?: number; children: ReactNode }) {
  return (
    <PartBoundary
      place="section"
      frame={(title, content) => (
        <section>
          <h2 className="mb-2 text-base font-semibold">{title}</h2>
          {content}
        </section>
      )}
      fallback={rows === undefined ? null : <SkeletonRows rows={rows} />}
    >
      {children}
    </PartBoundary>
  );
}

/** A bar at the foot of a screen, with what can be done to what is selected. It says itself that it failed. */
export function BarPart({ children }: { children: ReactNode }) {
  return (
    <PartBoundary
      place="bar"
      frame={(title, content) => (
        <section className="shrink-0 border-t border-line bg-raised p-3">
          {title} {content}
        </section>
      )}
      fallback={<div className="h-12 shrink-0 border-t border-line bg-raised" />}
    >
      {children}
    </PartBoundary>
  );
}
