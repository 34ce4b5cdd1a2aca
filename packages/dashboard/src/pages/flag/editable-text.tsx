import Pencil from 'lucide-react/icons/pencil';
import { type ReactNode, useState } from 'react';
import { IconButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { EditForm } from './edit-form.tsx';

/** A text that turns into a field where it stands. `children` shows it; `empty` invites to write one. */
export function EditableText({
  label,
  text,
  empty,
  hint,
  longest,
  isLong = false,
  canEdit,
  onSave,
  children,
}: {
  label: string;
  text: string;
  empty: string;
  hint?: string;
  /** In characters. */
  longest: number;
  isLong?: boolean;
  canEdit: boolean;
  /** Rejects with what to show. */
  onSave: (text: string) => Promise<void>;
  children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const [takesFocus, setTakesFocus] = useState(false);
  if (isOpen) {
    return (
      <EditForm
        {...{ label, text, hint, longest, isLong, onSave }}
        onClose={(isFocusFree) => {
          setOpen(false);
          setTakesFocus(isFocusFree);
        }}
      />
    );
  }
  return (
    <span className={classNames('flex min-w-0 items-center gap-1', isLong && 'max-w-3xl')}>
      {text === '' ? (
        <span className="text-ink-3 italic">{empty}</span>
      ) : (
        <span className="min-w-0 break-words whitespace-pre-line">{children}</span>
      )}
      {canEdit && (
        <IconButton
          label={`Edit: ${label}`}
          className="size-6 self-start"
          // After the field has closed, the focus returns to where it was opened.
          autoFocus={takesFocus}
          onClick={() => setOpen(true)}
        >
          <Pencil size={12} aria-hidden />
        </IconButton>
      )}
    </span>
  );
}
