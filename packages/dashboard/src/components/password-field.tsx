import Eye from 'lucide-react/icons/eye';
import EyeOff from 'lucide-react/icons/eye-off';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { IconButton } from './button.tsx';
import { Field } from './field.tsx';
import { messages } from './messages.ts';

/** The server refuses shorter and longer passwords, in characters. */
const PASSWORD_LENGTH = { least: 12, most: 200 } as const;

/** Asks for a password, which can be shown. Shows when Caps Lock is on. */
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
  /** The id of the element with the error, if it is outside of the field. */
  errorId?: string;
  /** `first`: takes the focus when its dialog opens. */
  focus?: 'first' | 'later';
}) {
  const [isShown, setShown] = useState(false);
  const [hasCapsLock, setCapsLock] = useState(false);

  function watch(event: KeyboardEvent): void {
    setCapsLock(event.getModifierState('CapsLock'));
  }

  return (
    <Field label={label} hint={hasCapsLock ? messages.password.capsLock : hint} error={error}>
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
            icon={isShown ? EyeOff : Eye}
            iconSize={15}
            label={isShown ? messages.password.hide : messages.password.show}
            aria-controls={control.id}
            aria-pressed={isShown}
            className="absolute top-0.5 right-0.5"
            onClick={() => setShown(!isShown)}
          />
        </div>
      )}
    </Field>
  );
}

/** The rule for a new password, as a hint. */
export const PASSWORD_RULE = messages.password.rule(PASSWORD_LENGTH.least);

/** The problem of a new password; `undefined` if it is valid. */
export function passwordProblem(password: string, email: string): string | undefined {
  if (password === '') return messages.password.missing;
  const missing = PASSWORD_LENGTH.least - password.length;
  if (missing > 0) return messages.password.tooShort(missing);
  return password.trim().toLowerCase() === email.trim().toLowerCase() ? messages.password.isEmail : undefined;
}
