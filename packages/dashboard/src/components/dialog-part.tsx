import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { PartBoundary } from './part-boundary.tsx';
import { SkeletonRows } from './screen-states.tsx';

/**
 * A dialog whose code is loaded when it is first opened. Until then an empty one takes the keys, which would otherwise
 * reach the screen below as shortcuts. Render it only while it is open.
 */
export function DialogPart({
  title,
  onClose,
  children,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <PartBoundary
      place={title}
      frame={(problem, content) => (
        <Dialog title={problem} onClose={onClose}>
          {content}
        </Dialog>
      )}
      fallback={
        <Dialog title={title} onClose={onClose}>
          <SkeletonRows rows={4} />
        </Dialog>
      }
    >
      {children}
    </PartBoundary>
  );
}
