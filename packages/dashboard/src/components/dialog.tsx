import X from 'lucide-react/icons/x';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  type SyntheticEvent,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { addLayer } from './layers.ts';
import { LiveRegion } from './live-region.tsx';

/** The first control of a form; of several radio buttons, the selected one. By default, "Close" has the focus. */
const FIRST_FIELD =
  'form :is(input:checked, input:enabled:not([type="radio"]), select:enabled, textarea:enabled)';

/**
 * A native modal dialog, whatever the style of the cell that it is in: the browser keeps the focus inside and restores it. Render it only while it is open. Escape, ×
 * and a click outside close it, and ask first if something was typed. Only "Cancel" does not ask. What says what it is about has
 * `data-description`.
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
  /** `bare` shows only the content; screen readers still get the title. */
  frame?: 'titled' | 'bare';
  /** It closes without asking, because nothing typed in it is worth keeping. */
  isQuestion?: boolean;
}) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const isTyped = useRef(false);
  const isPressedBeside = useRef(false);
  const [isAsking, setAsking] = useState(false);
  const asks = frame === 'titled' && !isQuestion;

  // Before the browser draws it: a key that is pressed in between would be lost.
  useLayoutEffect(() => {
    const dialog = ref.current;
    const returnTo = document.activeElement;
    if (dialog) describe(dialog, titleId);
    dialog?.showModal();

    const removeLayer = dialog ? addLayer(dialog) : undefined;
    const first = ['[data-autofocus]', FIRST_FIELD].find((each) => dialog?.querySelector(each));
    const control = first === undefined ? null : dialog?.querySelector<HTMLElement>(first);
    // In a low window the browser would scroll the title away. A button at the foot is in view anyway, and typing scrolls to a field.
    control?.focus({ preventScroll: true });

    return () => {
      removeLayer?.();
      dialog?.close();
      if (returnTo instanceof HTMLElement && returnTo.isConnected) returnTo.focus();
    };
  }, [titleId]);

  function close(): void {
    if (isAsking) setAsking(false);
    else if (asks && isTyped.current) setAsking(true);
    else onClose();
  }

  function onCancel(event: SyntheticEvent): void {
    // The state of the parent closes it, not the browser.
    event.preventDefault();
    close();
  }

  function onClosed(): void {
    // The Back gesture of phones closes it at the second try, even if the page prevents it.
    if (asks && isTyped.current) ref.current?.showModal();
    close();
  }

  function onKey(event: KeyboardEvent): void {
    // By default, a second Escape closes it without asking.
    if (event.key === 'Escape' && !event.defaultPrevented && !event.nativeEvent.isComposing) {
      event.preventDefault();
      if (!event.repeat) close();
    }
  }

  return (
    <dialog
      ref={ref}
      aria-labelledby={titleId}
      className={classNames(
        'w-[min(34rem,calc(100vw-2rem))] max-h-[calc(100dvh-2rem)] scroll-pb-20 overflow-auto rounded-lg border border-line bg-raised p-0 text-left whitespace-normal text-ink shadow-pop',
        className,
      )}
      onCancel={onCancel}
      onInput={() => {
        isTyped.current = true;
      }}
      onMouseDown={(event) => {
        isPressedBeside.current = isBeside(event);
      }}
      onClick={(event) => {
        // Selecting text with the mouse may end outside of the dialog.
        if (isPressedBeside.current && isBeside(event)) close();
      }}
      onKeyDown={onKey}
      onClose={onClosed}
    >
      {frame === 'bare' ? (
        <h2 id={titleId} className="sr-only">
          {title}
        </h2>
      ) : (
        <TitleBar titleId={titleId} title={title} onClose={close} />
      )}

      {frame === 'bare' ? children : <div className="px-5 pt-2 pb-5">{children}</div>}

      {isAsking && <DiscardQuestion onKeep={() => setAsking(false)} onDiscard={onClose} />}
      <LiveRegion />
    </dialog>
  );
}

/** Has the elements with `data-description` read out after the title: the focus may be at a button that says too little. */
function describe(dialog: HTMLElement, prefix: string): void {
  const texts = [...dialog.querySelectorAll('[data-description]')];
  for (const [index, text] of texts.entries()) text.id = `${prefix}-${index}`;
  if (texts.length > 0) dialog.setAttribute('aria-describedby', texts.map(({ id }) => id).join(' '));
}

function TitleBar({ titleId, title, onClose }: { titleId: string; title: string; onClose: () => void }) {
  return (
    <div className="flex items-center justify-between gap-4 px-5 pt-4">
      <h2 id={titleId} className="text-lg font-semibold">
        {title}
      </h2>
      <IconButton icon={X} iconSize={16} label="Close" onClick={onClose} className="-mr-1.5" />
    </div>
  );
}

/** Asks inside the dialog, so that what was typed stays visible. */
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

/** Whether a click was on the backdrop: inside its box, the dialog is covered by its content. */
function isBeside({ target, currentTarget, clientX, clientY }: MouseEvent<HTMLDialogElement>): boolean {
  const { left, right, top, bottom } = currentTarget.getBoundingClientRect();
  const isInside = clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
  return target === currentTarget && !isInside;
}

/** The buttons at the end of a dialog, which stay in view: cancel first, the main action last. */
export function DialogActions({ children }: { children: ReactNode }) {
  return (
    <div className="sticky bottom-0 z-10 -mx-5 mt-5 -mb-5 flex flex-wrap justify-end gap-2 border-t border-line bg-raised px-5 py-3">
      {children}
    </div>
  );
}
