import X from 'lucide-react/icons/x';
import { type MouseEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { LiveRegion } from './live-region.tsx';

/**
 * A native modal dialog: the browser keeps the focus inside and gives it back. Render it only while it is open. Escape,
 * the cross and a click beside it close it alike; where something was typed, it asks first. Only "Cancel" does not ask.
 */
export function Dialog({
  title,
  onClose,
  children,
  className,
  frame = 'titled',
  isQuestion = false,
}: {
  title: string;
  onClose: () => void;
  children: ReactNode;
  className?: string;
  /** `bare` shows the content alone; screen readers hear the title all the same. */
  frame?: 'titled' | 'bare';
  /** Nothing typed here is worth keeping: it is closed without asking. */
  isQuestion?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const isTyped = useRef(false);
  const isPressedBeside = useRef(false);
  const [isAsking, setAsking] = useState(false);
  const asks = frame === 'titled' && !isQuestion;
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
  function close(): void {
    if (isAsking) setAsking(false);
    else if (asks && isTyped.current) setAsking(true);
    else onClose();
  }
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
        close();
      }}
      onInput={() => {
        isTyped.current = true;
      }}
      onMouseDown={(event) => {
        isPressedBeside.current = isBeside(event);
      }}
      onClick={(event) => {
        // Text that is selected with the mouse may be let go outside.
        if (isPressedBeside.current && isBeside(event)) close();
      }}
      onKeyDown={(event) => {
        // By default, a second Escape closes it without asking.
        if (event.key === 'Escape' && !event.defaultPrevented && !event.nativeEvent.isComposing) {
          event.preventDefault();
          if (!event.repeat) close();
        }
        // The key that opened it may still be held down: repeats of it must not answer the question.
        const isHeld = event.repeat && event.key === 'Enter';
        if (isHeld && event.target instanceof HTMLButtonElement) event.preventDefault();
      }}
      onClose={() => {
        // The Back gesture of phones closes it at the second try, even if the page prevents it.
        if (asks && isTyped.current) ref.current?.showModal();
        close();
      }}
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
            <IconButton label="Close" onClick={close} className="-mr-1.5">
              <X size={16} aria-hidden />
            </IconButton>
          </div>
          <div className="px-5 pt-2 pb-5">{children}</div>
        </>
      )}
      {isAsking && <DiscardQuestion onKeep={() => setAsking(false)} onDiscard={onClose} />}
      <LiveRegion />
    </dialog>
  );
}

/** Asks inside of the dialog, so that what was typed stays in view. */
function DiscardQuestion({ onKeep, onDiscard }: { onKeep: () => void; onDiscard: () => void }) {
  const keep = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const returnTo = document.activeElement;
    keep.current?.focus();
    return () => {
      if (returnTo instanceof HTMLElement && returnTo.isConnected) returnTo.focus();
    };
  }, []);
  return (
    <div
      role="alertdialog"
      aria-label="Discard what you entered?"
      className="sticky bottom-0 flex flex-wrap items-center justify-end gap-2 border-t border-line bg-warn-soft px-5 py-3"
    >
      <p className="flex-1 font-medium text-warn">Discard what you entered?</p>
      <Button ref={keep} onClick={onKeep}>
        Keep editing
      </Button>
      <Button kind="danger" onClick={onDiscard}>
        Discard
      </Button>
    </div>
  );
}

/** Whether the mouse is on the dimmed page around a dialog; its own box is covered by what is in it. */
function isBeside({ target, currentTarget, clientX, clientY }: MouseEvent<HTMLDialogElement>): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  const isInside = clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
  return target === currentTarget && !isInside;
}

/** The buttons at a dialog's end: the way back first, what it is about last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return <div className="mt-5 flex flex-wrap justify-end gap-2">{children}</div>;
}
