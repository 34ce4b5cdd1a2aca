import Pencil from 'lucide-react/icons/pencil';
import Plus from 'lucide-react/icons/plus';
import {
  type ComponentProps,
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  useId,
  useRef,
  useState,
} from 'react';
import { isMade } from '../../api/api-error.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { useLeaveGuard } from '../../components/confirm.tsx';
import { INPUT } from '../../components/field.tsx';
import { RefusalNote } from '../../components/form.tsx';
import { messages } from './messages.tsx';

const words = messages.details;

/** A text that can be edited in place. `children` shows it; `empty` asks for one. */
export function EditableText({
  label,
  text,
  empty,
  hint,
  longest,
  isLong = false,
  isAbsent = false,
  canEdit,
  onSave,
  control,
  children,
}: {
  label: string;
  text: string;
  empty: string;
  hint?: string;
  /** In characters. */
  longest: number;
  isLong?: boolean;
  /** Whether there is nothing to show: a button with the label adds it. */
  isAbsent?: boolean;
  canEdit: boolean;
  /** Rejects with the error to show. */
  onSave: (text: string) => Promise<void>;
  /** The control to edit it with. Default: a text field. */
  control?: EditControl;
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const [takesFocus, setTakesFocus] = useState(false);
  if (isOpen) {
    return (
      <EditForm
        label={label}
        text={text}
        hint={hint}
        longest={longest}
        isLong={isLong}
        onSave={onSave}
        control={control}
        onClose={(isFocusFree) => {
          setOpen(false);
          setTakesFocus(isFocusFree);
        }}
      />
    );
  }

  // After the field has closed, the focus returns to where it was opened.
  const opener = { autoFocus: takesFocus, onClick: () => setOpen(true) };
  if (isAbsent)
    return (
      <AddFact aria-label={words.edit(label)} {...opener}>
        {label}
      </AddFact>
    );

  return (
    <span className={classNames('flex min-w-0 items-center gap-1', isLong && 'max-w-3xl')}>
      {text === '' ? (
        <span className="text-ink-3 italic">{empty}</span>
      ) : (
        <span className="min-w-0 break-words whitespace-pre-line">{children}</span>
      )}
      {canEdit && (
        <IconButton
          icon={Pencil}
          iconSize={12}
          label={words.edit(label)}
          className="size-6 self-start"
          {...opener}
        />
      )}
    </span>
  );
}

/** Adds a fact that a flag does not have. */
export function AddFact({ children, ...button }: ComponentProps<'button'>) {
  return (
    <Button kind="quiet" className="-mx-1.5 h-6 gap-1 px-1.5 text-xs font-normal text-ink-3!" {...button}>
      <Plus size={12} aria-hidden />
      {children}
    </Button>
  );
}

/** A control that edits a text. */
type EditControl = (field: {
  readonly label: string;
  readonly text: string;
  readonly onChange: (text: string) => void;
}) => ReactNode;

/** What is there is selected, so that typing replaces it. */
function focusControl(element: HTMLElement | null): void {
  const control = element?.querySelector<HTMLElement>('input, select');
  control?.focus();
  if (control instanceof HTMLInputElement) control.select();
}

/** The field for a text: Enter saves (in long fields with Ctrl or Cmd), Escape cancels. */
function EditForm({
  label,
  text,
  hint,
  longest,
  isLong,
  onSave,
  control,
  onClose,
}: {
  label: string;
  text: string;
  hint: string | undefined;
  longest: number;
  isLong: boolean;
  onSave: (text: string) => Promise<void>;
  control: EditControl | undefined;
  /** `isFocusFree`: no other element took the focus while saving. */
  onClose: (isFocusFree: boolean) => void;
}) {
  const [typed, setTyped] = useState(text);
  const [error, setError] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const hintId = useId();
  const form = useRef<HTMLFormElement>(null);
  const isDirty = typed.trim() !== text;
  useLeaveGuard(isDirty, words.unsaved(label));

  /** The person may have moved to another field while saving. */
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
      if (isMade(refusal)) return close();
      setError(refusal);
      setSaving(false);
    }
  }

  function onKeyDown(event: KeyboardEvent): void {
    // The key belongs to the input method: Escape cancels its suggestion, not the edit.
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
      onKeyDown={control && onKeyDown}
    >
      <div className="flex flex-wrap items-start gap-1.5">
        {isLong ? (
          <textarea
            {...shared}
            className={`${INPUT} field-sizing-content h-auto max-h-80 min-h-20 py-1.5 sm:flex-1`}
            onChange={(event) => setTyped(event.target.value)}
          />
        ) : control !== undefined ? (
          <div ref={focusControl} className="w-full sm:w-80 sm:has-[select]:w-auto">
            {control({ label, text: typed, onChange: setTyped })}
          </div>
        ) : (
          <input
            {...shared}
            className={`${INPUT} sm:w-64`}
            onChange={(event) => setTyped(event.target.value)}
          />
        )}
        <Button type="submit" kind="primary" disabled={isSaving}>
          {isSaving ? words.saving : words.save}
        </Button>
        <Button onClick={close}>{words.cancel}</Button>
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
