import X from 'lucide-react/icons/x';
import { type ReactNode, useEffect, useId, useRef } from 'react';
import { IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { LiveRegion } from './live-region.tsx';

/**
 * A native modal dialog: the browser keeps the focus inside, closes it with Escape and gives the focus back. Render it
 * only while it is open.
 */
export function Dialog({
  title,
  onClose,
  children,
  className,
  frame = 'titled',
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  className?: string;
  /** `bare` shows the content alone; screen readers hear the title all the same. */
  frame?: 'titled' | 'bare';
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    const returnTo = document.activeElement;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    return () => {
      dialog?.close();
      if (returnTo instanceof HTMLElement && returnTo.isConnected) returnTo.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      className={classNames(
        'w-[min(34rem,calc(100vw-2rem))] max-h-[calc(100dvh-2rem)] overflow-auto rounded-lg border border-line bg-raised p-0 text-ink shadow-pop',
        className,
      )}
      onCancel={(event) => {
        // The state that shows it decides, not the browser.
        event.preventDefault();
        onClose();
      }}
      onKeyDown={(event) => {
        // The key that opened it may still be down: held, it is no answer to a question nobody has read.
        const isHeld = event.repeat && event.key === 'Enter';
        if (isHeld && event.target instanceof HTMLButtonElement) event.preventDefault();
      }}
      // A second Escape without a click in between closes it without asking.
      onClose={onClose}
    >
      {frame === 'bare' ? (
        <>
          <h2 id={titleId} className="sr-only">
            {title}
          </h2>
          {children}
        </>
      ) : (
        <>
          <div className="flex items-center justify-between gap-4 px-5 pt-4">
            <h2 id={titleId} className="text-lg font-semibold">
              {title}
            </h2>
            <IconButton label="Close" onClick={onClose} className="-mr-1.5">
              <X size={16} aria-hidden />
            </IconButton>
          </div>
          <div className="px-5 pt-2 pb-5">{children}</div>
        </>
      )}
      <LiveRegion />
    </dialog>
  );
}

/** The buttons at a dialog's end: the way back first, what it is about last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>;
}
