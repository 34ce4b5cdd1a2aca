import { type FormEvent, type KeyboardEvent, useId, useRef, useState } from 'react';
import { RefusalNote } from '../../changes/actions.tsx';
import { Button } from '../../components/button.tsx';
import { INPUT } from '../../components/field.tsx';
import { useLeaveGuard } from '../../shell/leave-guard.ts';

/** A field in the place of a text: Enter saves (in long ones with Ctrl or Cmd), Escape goes back. */
export function EditForm({
  label,
  text,
  hint,
  longest,
  isLong,
  onSave,
  onClose,
}: {
  label: string;
  text: string;
  hint: string | undefined;
  longest: number;
  isLong: boolean;
  onSave: (text: string) => Promise<void>;
  /** Told whether the focus is nobody else's by now. */
  onClose: (isFocusFree: boolean) => void;
}) {
  const [typed, setTyped] = useState(text);
  const [error, setError] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const hintId = useId();
  const form = useRef<HTMLFormElement>(null);
  const isDirty = typed.trim() !== text;
  useLeaveGuard(isDirty, `What you typed is not saved, and would be lost: ${label.toLowerCase()}.`);

  /** While it was being saved, somebody may have gone on to another field. */
  function close(): void {
    const focused = document.activeElement;
    onClose(focused === document.body || form.current?.contains(focused) === true);
  }

  async function submit(event?: FormEvent): Promise<void> {
    event?.preventDefault();
    const next = typed.trim();
    if (next === text) return close();
    setSaving(true);
    try {
      await onSave(next);
      close();
    } catch (refusal) {
      setError(refusal);
      setSaving(false);
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    // The key belongs to the input method: Escape takes back what it suggests, not all that was typed.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') close();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void submit();
  }

  const shared = {
    'aria-label': label,
    'aria-describedby': hint === undefined ? undefined : hintId,
    autoFocus: true,
    maxLength: longest,
    value: typed,
    onKeyDown,
  };
  return (
    <form
      ref={form}
      className="flex w-full max-w-3xl flex-col gap-1.5"
      onSubmit={(event) => void submit(event)}
    >
      <div className="flex flex-wrap items-start gap-1.5">
        {isLong ? (
          <textarea
            {...shared}
            className={`${INPUT} h-20 py-1.5 sm:flex-1`}
            onChange={(event) => setTyped(event.target.value)}
          />
        ) : (
          <input
            {...shared}
            className={`${INPUT} sm:w-64`}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
        <Button type="submit" kind="primary" disabled={isSaving}>
          {isSaving ? 'Saving…' : 'Save'}
        </Button>
        <Button onClick={close}>Cancel</Button>
      </div>
      {hint !== undefined && (
        <p id={hintId} className="text-xs text-ink-3">
          {hint}
        </p>
      )}
      <RefusalNote error={error} />
    </form>
  );
}
