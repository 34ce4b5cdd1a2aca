import type { ReactNode } from 'react';
import { PartBoundary } from './part-boundary.tsx';
import { SkeletonRows } from './screen-states.tsx';

/** A part that its screen can do without: nothing is shown while its file loads, or if it fails. */
export function SparePart({ children }: { children: ReactNode }) {
  return (
    <PartBoundary place="spare" frame={() => null}>
      {children}
    </PartBoundary>
  );
}

/** A section whose file loads when it is first shown. If it fails, the error takes its place. `rows`: its height while it loads. */
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

/** The bar of actions for selected rows, at the foot of a screen. If it fails, the error takes its place. */
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
