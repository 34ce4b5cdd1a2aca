import Check from 'lucide-react/icons/check';
import Copy from 'lucide-react/icons/copy';
import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { useLeaveGuard } from './confirm.tsx';
import { copyText } from './copy.tsx';
import { Dialog, DialogActions } from './dialog.tsx';
import { messages } from './messages.ts';

/**
 * Shows a secret that the server returns only once. Keep it in component state, out of caches: it must leave the page
 * with the dialog. The dialog closes only when the person confirms that the secret is saved, or leaves the screen.
 */
export function SecretDialog({
  title,
  what,
  secret,
  children,
  onClose,
}: {
  title: string;
  /** The kind of secret, such as "key". */
  what: string;
  secret: string;
  /** How to use it. */
  children?: ReactNode;
  onClose: () => void;
}) {
  const [isCopied, setCopied] = useState(false);
  const [isWarned, setWarned] = useState(false);
  const shown = useRef<HTMLElement>(null);
  useLeaveGuard(true, messages.secret.leave(what));
  useKeepOpen(shown, keep);

  /** The Back gesture of phones closes a native dialog at the second try: opens it again. */
  function keep(): void {
    setWarned(true);
    const dialog = shown.current?.closest('dialog');
    if (dialog?.open === false) dialog.showModal();
  }

  return (
    <Dialog title={title} onClose={keep} isQuestion className="w-[min(42rem,calc(100vw-2rem))]">
      <p className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
        <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
        <span>{messages.secret.warning(what)}</span>
      </p>
      <div className="mt-3 flex flex-wrap items-center gap-2">
        <code
          ref={shown}
          data-secret
          className="min-w-0 flex-1 basis-64 rounded-md border border-line-strong bg-surface px-2.5 py-1.5 font-mono text-xs leading-5 break-all select-all"
        >
          {secret}
        </code>
        <Button data-autofocus kind="primary" onClick={() => void copyText(secret).then(setCopied)}>
          {isCopied ? <Check size={15} aria-hidden /> : <Copy size={15} aria-hidden />}
          {isCopied ? messages.copied : messages.secret.copy(what)}
        </Button>
      </div>
      {children}
      {isWarned && (
        <p role="alert" className="mt-4 text-danger">
          {messages.secret.saveFirst(what)}
        </p>
      )}
      <DialogActions>
        <Button onClick={onClose}>{messages.secret.done}</Button>
      </DialogActions>
    </Dialog>
  );
}

/** Browsers close a native dialog at the second Escape, even if the page prevents it. Dialogs above keep their Escape. */
function useKeepOpen(content: RefObject<HTMLElement | null>, onTry: () => void): void {
  useEffect(() => {
    function onKey(event: KeyboardEvent): void {
      if (event.key !== 'Escape' || isAbove(event.target, content.current)) return;
      event.preventDefault();
      onTry();
    }
    document.addEventListener('keydown', onKey, { capture: true });
    return () => document.removeEventListener('keydown', onKey, { capture: true });
  });
}

/** Whether a key was pressed in another dialog, above the one with `content`. */
function isAbove(target: EventTarget | null, content: Element | null): boolean {
  const dialog = target instanceof Element ? target.closest('dialog') : null;
  return dialog !== null && dialog !== content?.closest('dialog');
}
