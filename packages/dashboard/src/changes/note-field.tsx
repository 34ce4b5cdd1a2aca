import { Field } from '../components/field.tsx';

/** Where somebody says why; the history keeps it. */
export function NoteField({ value, onChange }: { value: string; onChange: (note: string) => void }) {
  return (
    <Field label="Note" hint="Optional. Why, for everybody who reads the history later">
      {(control) => (
        <input
          {...control}
          maxLength={500}
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
