import Eye from 'lucide-react/icons/eye';
import EyeOff from 'lucide-react/icons/eye-off';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { IconButton } from './button.tsx';
import { Field } from './field.tsx';

/** Fewer and more characters are refused by the server. */
export const PASSWORD_LENGTH = { least: 12, most: 200 } as const;

/** Asks for a password, which can be shown. Says when the Caps Lock key is on. */
export function PasswordField({
  label,
  autoComplete,
  value,
  onChange,
  hint,
  error,
  errorId,
  focus = 'later',
}: {
  label: string;
  autoComplete: 'current-password' | 'new-password';
  value: string;
  onChange: (password: string) => void;
  hint?: ReactNode;
  error?: string | undefined;
  /** The id of what says that it was refused, where that stands elsewhere. */
  errorId?: string;
  /** `first`: a dialog that opens begins here. */
  focus?: 'first' | 'later';
}) {
  const [isShown, setShown] = useState(false);
  const [hasCapsLock, setCapsLock] = useState(false);
  function watch(event: KeyboardEvent): void {
    setCapsLock(event.getModifierState('CapsLock'));
  }
  return (
    <Field label={label} hint={hasCapsLock ? 'Caps Lock is on.' : hint} error={error}>
      {(control) => (
        <div className="relative">
          <input
            {...control}
            {...(errorId !== undefined && { 'aria-describedby': errorId, 'aria-invalid': true })}
            data-autofocus={focus === 'first' ? true : undefined}
            name={autoComplete === 'new-password' ? 'password' : 'current'}
            className={`${control.className} pr-9`}
            type={isShown ? 'text' : 'password'}
            autoComplete={autoComplete}
            autoCapitalize="off"
            spellCheck={false}
            required
            maxLength={PASSWORD_LENGTH.most}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            onKeyDown={watch}
            onKeyUp={watch}
          />
          <IconButton
            label={isShown ? 'Hide the characters' : 'Show the characters'}
            aria-controls={control.id}
            aria-pressed={isShown}
            className="absolute top-0.5 right-0.5"
            onClick={() => setShown(!isShown)}
          >
            {isShown ? <EyeOff size={15} aria-hidden /> : <Eye size={15} aria-hidden />}
          </IconButton>
        </div>
      )}
    </Field>
  );
}

/** What a new password must be, said beforehand. */
export const PASSWORD_RULE = `${PASSWORD_LENGTH.least} characters or more, and not your e-mail. A few words are best.`;

/** What is wrong with a new password; `undefined` when nothing is. */
export function passwordProblem(password: string, email: string): string | undefined {
  const missing = PASSWORD_LENGTH.least - password.length;
  if (missing > 0) {
    return `It needs ${PASSWORD_LENGTH.least} characters or more: ${missing} ${missing === 1 ? 'is' : 'are'} missing.`;
  }
  return password.trim().toLowerCase() === email.trim().toLowerCase()
    ? 'Choose something else than your e-mail.'
    : undefined;
}
