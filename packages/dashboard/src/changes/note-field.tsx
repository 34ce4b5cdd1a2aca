import { Field } from '../components/field.tsx';
import { messages } from './messages.ts';

/** The longest note that the server accepts, in characters. */
export const NOTE_LENGTH = 1000;

/** Asks for the reason of a change, which the history shows. */
export function NoteField({ value, onChange }: { value: string; onChange: (note: string) => void }) {
  return (
    <Field label={messages.noteLabel} hint={messages.noteHint}>
      {(control) => (
        <input
          {...control}
          maxLength={NOTE_LENGTH}
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
