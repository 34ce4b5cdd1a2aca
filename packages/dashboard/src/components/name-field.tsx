import type { ReactNode } from 'react';
import { Field } from './field.tsx';

/** Asks for the name of a record; the first field of its dialog. */
export function NameField({
  value,
  onChange,
  hint,
  error,
}: {
  value: string;
  onChange: (name: string) => void;
  hint?: ReactNode;
  error?: string | undefined;
}) {
  return (
    <Field label="Name" hint={hint} error={error}>
      {(control) => (
        <input
          {...control}
          data-autofocus
          autoComplete="off"
          maxLength={100}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
