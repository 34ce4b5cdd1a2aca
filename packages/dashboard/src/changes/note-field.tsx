import { useState } from 'react';
import type { Wanted } from '../api/approvals.ts';
import type { EnvironmentRecord } from '../api/types.ts';
import { EnvironmentBadge } from '../components/badges.tsx';
import { TextField } from '../components/field.tsx';
import { FormDialog, useForm } from '../components/form.tsx';
import { messages } from './dialog-messages.ts';
import { messages as titles } from './messages.ts';

/** The longest note that the server accepts, in characters. */
export const NOTE_LENGTH = 1000;

/** Asks for the reason of a change, which the history shows. Where it is required, the dialog opens with the focus on it. */
export function NoteField({
  value,
  isRequired = false,
  error,
  onChange,
}: {
  value: string;
  /** Whether an environment that changes requires one. */
  isRequired?: boolean;
  error?: string | undefined;
  onChange: (note: string) => void;
}) {
  return (
    <TextField
      label={messages.noteLabel}
      placeholder={isRequired ? undefined : messages.noteOptional}
      required={isRequired}
      {...(isRequired && { 'data-autofocus': true })}
      error={error}
      maxLength={NOTE_LENGTH}
      value={value}
      onChange={onChange}
    />
  );
}

/** Asks for the reason of a change that lacks one, in environments that require it. */
export function ReasonDialog({
  environments,
  onAnswer,
}: {
  /** The ones that require it; empty if only the server's refusal has said so. */
  environments: readonly EnvironmentRecord[];
  /** `undefined`: nothing is changed. */
  onAnswer: (answer: Wanted | undefined) => void;
}) {
  const [note, setNote] = useState('');
  const form = useForm({
    problems: { note: note.trim() === '' ? messages.noteMissing : undefined },
    submit: () => onAnswer({ note: note.trim() }),
  });

  return (
    <FormDialog
      title={titles.reasonTitle}
      form={form}
      action={messages.reasonSubmit}
      isQuestion
      onClose={() => onAnswer(undefined)}
    >
      <p className="flex flex-wrap items-center gap-x-1.5 text-ink-2" data-description>
        {environments.map((environment) => (
          <EnvironmentBadge
            key={environment.name}
            environment={environment}
            className="font-medium text-ink"
          />
        ))}
        <span>{environments.length === 0 ? messages.reasonByNow : messages.reasonNeeded}</span>
      </p>
      <NoteField value={note} isRequired error={form.problem('note')} onChange={setNote} />
    </FormDialog>
  );
}
