import { type ReactNode, useId } from 'react';

/** The classes of text fields and selects. */
export const CONTROL =
  'h-8 min-w-0 rounded-md border border-line-strong bg-surface px-2.5 text-ink aria-invalid:border-danger disabled:opacity-60';

/** The classes of a text field that fills its line. */
export const INPUT = `${CONTROL} w-full`;

/** The props of the control inside a field. */
interface FieldControl {
  readonly id: string;
  readonly className: string;
  readonly 'aria-describedby'?: string;
  readonly 'aria-invalid'?: true;
}

/** A control with its label, and a hint or an error. Spread the argument of `children` onto the control. */
export function Field({
  label,
  hint,
  error,
  children,
}: {
  label: ReactNode;
  hint?: ReactNode;
  error?: string | undefined;
  children: (control: FieldControl) => ReactNode;
}) {
  const id = useId();
  const describedBy = error !== undefined || hint !== undefined ? `${id}-note` : undefined;
  return (
    <div>
      <label htmlFor={id} className="mb-1 block font-medium">
        {label}
      </label>
      {children({
        id,
        className: INPUT,
        ...(describedBy === undefined ? {} : { 'aria-describedby': describedBy }),
        ...(error === undefined ? {} : { 'aria-invalid': true }),
      })}
      {describedBy !== undefined && (
        <p
          id={describedBy}
          className={error === undefined ? 'mt-1 text-xs text-ink-3' : 'mt-1 text-xs text-danger'}
        >
          {error ?? hint}
        </p>
      )}
    </div>
  );
}

/** The error of a whole form. */
export function FormError({ children }: { children: ReactNode }) {
  if (children === undefined || children === '') return null;
  return (
    <div role="alert" className="rounded-md bg-danger-soft px-3 py-2 text-danger">
      {children}
    </div>
  );
}

/** Asks for the name of a record. Takes the focus when its dialog opens. */
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
