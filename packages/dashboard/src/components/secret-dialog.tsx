import Check from 'lucide-react/icons/check';
import Copy from 'lucide-react/icons/copy';
import TriangleAlert from 'lucide-react/icons/triangle-alert';
import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { useLeaveGuard } from '../shell/leave-guard.ts';
import { Button } from './button.tsx';
import { copyText } from './copy.tsx';
import { Dialog, DialogActions } from './dialog.tsx';

/**
 * Shows a secret that the server will not tell again. It stands nowhere but in the state of who renders this, so keep
 * it out of caches; it leaves the page with the dialog, which closes only when the person says that it is saved, or
 * means to leave the screen without it.
 */
export function SecretDialog({
  title,
  what,
  secret,
  children,
  onClose,
}: {
  title: string;
  /** What the secret is, as "key". */
  what: string;
  secret: string;
  /** How to use it. */
  children?: ReactNode;
  onClose: () => void;
}) {
  const [isCopied, setCopied] = useState(false);
  const [isWarned, setWarned] = useState(false);
  const shown = useRef<HTMLElement>(null);
  useLeaveGuard(true, `The ${what} is shown this once. Without a copy of it you have to make another.`);
  useKeepOpen(shown, keep);
  /** A browser's own way back, as on a telephone, closes a native dialog at the second try: it is opened again. */
  function keep(): void {
    setWarned(true);
    const dialog = shown.current?.closest('dialog');
    if (dialog?.open === false) dialog.showModal();
  }
  return (
    <Dialog title={title} onClose={keep} isQuestion className="w-[min(42rem,calc(100vw-2rem))]">
      <p className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
        <TriangleAlert size={16} className="mt-0.5 shrink-0" aria-hidden />
        <span>Copy the {what} now: it is shown this once, and nobody can look it up later.</span>
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
          {isCopied ? 'Copied' : `Copy the ${what}`}
        </Button>
      </div>
      {children}
      {isWarned && (
        <p role="alert" className="mt-4 text-danger">
          Once closed, the {what} is gone from this page. Say that you saved it, and it closes.
        </p>
      )}
      <DialogActions>
        <Button onClick={onClose}>I saved it</Button>
      </DialogActions>
    </Dialog>
  );
}

/** Escape would close a native dialog at the second press whatever the page says. Questions above it keep theirs. */
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

/** Whether a key was pressed in another dialog, which then stands above the one with `content`. */
function isAbove(target: EventTarget | null, content: Element | null): boolean {
  const dialog = target instanceof Element ? target.closest('dialog') : null;
  return dialog !== null && dialog !== content?.closest('dialog');
}
