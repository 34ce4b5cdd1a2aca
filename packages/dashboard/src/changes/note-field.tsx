import { TextField } from '../components/field.tsx';
import { messages } from './dialog-messages.ts';

/** The longest note that the server accepts, in characters. */
export const NOTE_LENGTH = 1000;

/** Asks for the reason of a change, which the history shows. */
export function NoteField({ value, onChange }: { value: string; onChange: (note: string) => void }) {
  return (
    <TextField
      label={messages.noteLabel}
      hint={messages.noteHint}
      maxLength={NOTE_LENGTH}
      autoComplete="off"
      value={value}
      onChange={onChange}
    />
  );
}
