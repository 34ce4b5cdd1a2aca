import { type ReactNode, type RefObject, useLayoutEffect, useRef } from 'react';
import { Dialog } from './dialog.tsx';
import { PartBoundary } from './part-boundary.tsx';
import { SkeletonRows } from './screen-states.tsx';

/** Frames the error of a part that is a dialog. */
export function inDialog(onClose: () => void): (title: string, content: ReactNode) => ReactNode {
  return (title, content) => (
    <Dialog title={title} onClose={onClose}>
      {content}
    </Dialog>
  );
}

/**
 * A dialog whose code is loaded when it is first opened. Until then an empty one takes the keys, which would otherwise
 * reach the screen below as shortcuts; what was typed goes into the first field. Render it only while it is open.
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
  const typed = useRef('');

  return (
    <PartBoundary
      place={title}
      frame={inDialog(onClose)}
      fallback={
        <Dialog title={title} onClose={onClose} isQuestion>
          <input
            data-autofocus
            aria-label={title}
            autoComplete="off"
            className="sr-only"
            onChange={({ target }) => {
              typed.current = target.value;
            }}
          />
          <SkeletonRows rows={4} />
        </Dialog>
      }
    >
      {children}
      <HandOver typed={typed} />
    </PartBoundary>
  );
}

/** Types what was typed before the dialog beside it was there into the field that has the focus now. */
function HandOver({ typed }: { typed: RefObject<string> }) {
  // After the dialog, which comes first, has taken the focus.
  useLayoutEffect(() => {
    const { activeElement: field } = document;
    const isField = field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement;
    // As if by keys, so that the field's own events tell of it.
    if (isField && typed.current !== '') document.execCommand('insertText', false, typed.current);
    typed.current = '';
  }, [typed]);
  return null;
}
