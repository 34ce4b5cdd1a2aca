import { type FormEvent, type KeyboardEvent, useId, useState } from 'react';
import { Button } from '../../components/button.tsx';
import { ErrorText } from '../../components/error-text.tsx';
import { FormError, INPUT } from '../../components/field.tsx';
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
  onClose: () => void;
}) {
  const [typed, setTyped] = useState(text);
  const [error, setError] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const hintId = useId();
  const isDirty = typed.trim() !== text;
  useLeaveGuard(isDirty, `What you typed is not saved, and would be lost: ${label.toLowerCase()}.`);

  async function submit(event?: FormEvent): Promise<void> {
    event?.preventDefault();
    const next = typed.trim();
    if (next === text) return onClose();
    setSaving(true);
    try {
      await onSave(next);
      onClose();
    } catch (refusal) {
      setError(refusal);
      setSaving(false);
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    // The key belongs to the input method: Escape takes back what it suggests, not all that was typed.
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') onClose();
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
    <form className="flex w-full max-w-3xl flex-col gap-1.5" onSubmit={(event) => void submit(event)}>
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
        <Button onClick={onClose}>Cancel</Button>
      </div>
      {hint !== undefined && (
        <p id={hintId} className="text-xs text-ink-3">
          {hint}
        </p>
      )}
      {error !== undefined && (
        <FormError>
          <ErrorText error={error} />
        </FormError>
      )}
    </form>
  );
}
